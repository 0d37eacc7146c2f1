// The client leg: the suite serves, and the official client reaches it directly and through `gw run` with one target.
// In scenarios of OAuth the server requires tokens itself; `test/mcp-sign-in` has sign-in at the gateway.
import { type Check, clientChecks, type ProtocolDate } from './suite.ts'

const TOKEN_ENDPOINT = ['basic', 'post', 'none'].map((method) => `auth/token-endpoint-auth-${method}`)
const OAUTH = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'basic-cimd',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'scope-retry-limit',
  'pre-registration',
]
  .map((name) => `auth/${name}`)
  .concat(TOKEN_ENDPOINT)
const OAUTH_2026 = [
  'resource-mismatch',
  'offline-access-scope',
  'offline-access-not-supported',
  'authorization-server-migration',
  'iss-supported',
  'iss-not-advertised',
  'iss-supported-missing',
  'iss-wrong-issuer',
  'iss-unexpected',
  'iss-normalized',
  'metadata-issuer-mismatch',
].map((name) => `auth/${name}`)

const SCENARIOS: Readonly<Record<ProtocolDate, readonly string[]>> = {
  '2025-06-18': ['initialize', 'tools_call', ...TOKEN_ENDPOINT],
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
    ...OAUTH,
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
    ...OAUTH,
    ...OAUTH_2026,
  ],
}

export interface ClientResults {
  readonly directly: readonly Check[]
  readonly gateway: readonly Check[]
}

/** One scenario after the other: each starts a gateway. */
export async function clientLeg(date: ProtocolDate): Promise<ClientResults> {
  const directly: Check[] = []
  const gateway: Check[] = []
  for (const scenario of SCENARIOS[date]) {
    const [own, through] = await Promise.all([
      clientChecks('directly', scenario, date),
      clientChecks('gateway', scenario, date),
    ])
    directly.push(...own)
    gateway.push(...through)
  }
  return { directly, gateway }
}

/** Checks that pass directly, but not through the gateway. */
export function lostByClients({ directly, gateway }: ClientResults): Check[] {
  const passed = new Set(gateway.filter(({ status }) => status === 'passed').map(keyOf))
  return directly.filter((check) => check.status === 'passed' && !passed.has(keyOf(check)))
}

const keyOf = ({ scenario, id }: Check): string => `${scenario} ${id}`
