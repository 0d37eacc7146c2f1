// The tests that a setting need not have, and why. An exception that is no longer needed fails the test: remove it.

export interface Exception {
  readonly settings: RegExp
  readonly because: string
}

const GUARD_SERVICES: Exception = {
  settings: /^backend\.ai\.promptGuard\.(request|response)\[\]\.\w+\.policies\./,
  because: 'the fields of backend.tcp, tls, http, tunnel and auth, with their translators and filters',
}

/** Settings that no golden has to set, or whose value need not change what the operator renders. */
export const WITHOUT_GOLDEN: readonly Exception[] = [
  GUARD_SERVICES,
  {
    settings: /^backend\.(ai\.promptGuard|mcp\.guardrails)\..*\.backendRef\.(group|kind|namespace)$/,
    because: 'one piece of code resolves every reference; goldens have Services, grants and kinds that do not exist',
  },
]

/** Settings that no end-to-end case has to set. */
export const WITHOUT_CASE: readonly Exception[] = [
  {
    settings: /^backend\.ai\.promptGuard\.(request|response)\[\]\.(moderationApi|guardrails[AC])\./,
    because: 'the services of vendors have fixed hosts: tests in proxy/llm/guards have emulated ones',
  },
  {
    settings: /^backend\.auth\.cloud[BC]\b/,
    because: 'they call token endpoints of Azure and Google: test/cli/cloud-credentials.test.ts has emulated ones',
  },
  {
    settings: /^backend\.auth\.cloudA\.assumeRole\b/,
    because: 'it calls STS of AWS: proxy/backend/auth/cloud-a.test.ts has an emulated one',
  },
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
  { settings: /^traffic\.cors\.allowMethods\[\]=/, because: 'names that are forwarded unchanged' },
  { settings: /^backend\..*\.keyExchangeGroups\[\]=/, because: 'some groups end to end, each name in proxy/tls' },
  {
    settings: /\.mcp\.(authentication\.)?provider=/,
    because: 'proxy/policy/auth/mcp-oauth/mcp-oauth.test.ts has each product',
  },
  {
    settings: /^backend\.auth\..*\.clientAuth\.(method|privateKeyJwt\.(alg|certificateHeader))=/,
    because: 'some of them end to end, each one in proxy/credentials/oauth/client-auth.test.ts',
  },
  {
    settings: /^backend\.auth\.oauthTokenExchange\.requestedTokenType=IdJag$/,
    because: 'rejected by the schema: api/v1alpha1/testdata/gwpolicy-backend/auth-oauth-token-exchange.yaml',
  },
  {
    settings: /^backend\.ai\.promptGuard\..*\.regex\.(builtins\[\]|action)=/,
    because: 'some of them end to end, each one in proxy/llm/guards/regex.test.ts',
  },
  {
    settings: /^backend\.ai\.routes\{\}=/,
    because: 'some formats end to end, each one and each provider in proxy/llm',
  },
]

/** Settings that need not be named on the page of their policy. */
export const WITHOUT_PAGE: readonly Exception[] = [
  GUARD_SERVICES,
  {
    settings: /[bB]ackendRef\.\w+$|(Ref|secretRef|credentials\[\]\.secretRef)(\[\])?\.(group|kind|name|key)$/,
    because: 'parts of a reference, which all pages describe as a whole',
  },
]
