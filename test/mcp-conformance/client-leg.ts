// The client leg: the suite serves, and the official client reaches it directly and through `gw run` with one target.
// Scenarios of OAuth are not here: `test/mcp-sign-in` has sign-in at the gateway and at servers behind it.
import { type Check, clientChecks, type ProtocolDate } from './suite.ts'

const SCENARIOS: Readonly<Record<ProtocolDate, readonly string[]>> = {
  '2025-06-18': ['initialize', 'tools_call'],
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
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
