// Reasons of failures, as the access log and metrics name them.

/** Log field `reason` and metric label `reason` (data-plane supplement section 1.9). */
export type Reason =
  | 'Upstream'
  | 'DirectResponse'
  | 'NotFound'
  | 'NoHealthyBackend'
  | 'Internal'
  | 'InvalidRequest'
  | 'JwtAuth'
  | 'BasicAuth'
  | 'APIKeyAuth'
  | 'ExtAuth'
  | 'Authorization'
  | 'Timeout'
  | 'ExtProc'
  | 'RateLimit'
  | 'Guardrail'
  | 'MCP'
  | 'UpstreamFailure'
