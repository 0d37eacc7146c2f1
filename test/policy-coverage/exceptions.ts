// What a setting may lack, and why. An exception that is no longer needed fails the test: it is to be removed.

export interface Exception {
  readonly settings: RegExp
  readonly because: string
}

/** Runs by kinds of credentials, or LLM and MCP settings, whose work is planned apart. */
const APART: readonly Exception[] = [
  {
    settings: /^backend\.ai\./,
    because: 'LLM settings have the cases of docs/policies/backend-ai.md and an issue apart',
  },
  {
    settings: /^backend\.mcp\.(guardrails|authorization)\./,
    because: 'MCP guardrails and authorization have the cases of docs/policies/backend-mcp.md and an issue apart',
  },
  {
    settings: /^backend\.auth\.(cloud[ABC]|oauthTokenExchange|crossAppAccess)\b/,
    because: 'not run by this version: refused, as the case BackendAuthNotRun shows',
  },
]

/** Settings that no golden has to set, or whose value need not change what the operator renders. */
export const WITHOUT_GOLDEN: readonly Exception[] = [
  ...APART,
  {
    settings: /\.jwks\.(remote\.)?cacheDuration$/,
    because: 'how often the operator fetches keys: operator/jwks/requests.test.ts',
  },
]

/** Settings that no end-to-end case has to set. */
export const WITHOUT_CASE: readonly Exception[] = [
  ...APART,
  {
    settings: /(?:[bB]ackendRef|Ref(\[\])?)\.(group|kind|namespace|port)$/,
    because: 'one piece of code resolves every reference; goldens have Services, grants and kinds that do not exist',
  },
  {
    settings: /\.conditional\[\]\.policy\./,
    because: 'one translator and one filter run plain and conditional values; a case of each page makes the choice',
  },
  { settings: /\.jwks\.(remote\.)?cacheDuration$/, because: 'the operator fetches keys: test/cli/key-sets.test.ts' },
]

/** Values of enumerations that no end-to-end case has to use. */
export const VALUES_WITHOUT_CASE: readonly Exception[] = [
  { settings: /^traffic\.cors\.allowMethods\[\]$/, because: 'names that are passed on as they are' },
  { settings: /^frontend\.tls\.cipherSuites\[\]$/, because: 'one suite end to end, each name in proxy/tls' },
  { settings: /\.keyExchangeGroups\[\]$/, because: 'some groups end to end, each name in proxy/tls' },
  {
    settings: /\.mcp\.(authentication\.)?provider$/,
    because: 'proxy/policy/mcp-oauth/mcp-oauth.test.ts has each product',
  },
  { settings: /^frontend\.tls\.maxProtocolVersion$/, because: '1.3 is what holds without the setting' },
]

/** Settings that need not be named on the page of their policy. */
export const WITHOUT_PAGE: readonly Exception[] = [
  ...APART,
  {
    settings: /[bB]ackendRef\.\w+$|(Ref|secretRef|credentials\[\]\.secretRef)(\[\])?\.(group|kind|name|key)$/,
    because: 'parts of a reference, which all pages call by its own name',
  },
]
