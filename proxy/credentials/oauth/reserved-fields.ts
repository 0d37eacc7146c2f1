// Fields of the form of a token endpoint that the proxy alone sets (data-plane supplement section 8.5).

export const RESERVED_FIELDS: ReadonlySet<string> = new Set([
  'grant_type',
  'subject_token',
  'subject_token_type',
  'actor_token',
  'actor_token_type',
  'assertion',
  'audience',
  'resource',
  'scope',
  'requested_token_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
])
