// The report of the conformance suite, docs/mcp/conformance.md.
import { join } from 'node:path'
import type { ClientResults } from './client-leg.ts'
import { type Check, VERSION } from './suite.ts'
import { lost, type Results, WAYS } from './ways.ts'

export const REPORT = join(import.meta.dirname, '../../docs/mcp/conformance.md')

const REASON_CHARACTERS_MAX = 300

const HEAD = `# MCP conformance

\`make mcp-conformance\` runs the official conformance suite (\`@modelcontextprotocol/conformance\` ${VERSION}): its server leg against a
server made with the official SDKs, directly and through \`gw run\`, and writes this page. It fails if a check passes directly, but not
through the gateway, and has no reason below. The server of 2025-06-18 and 2025-11-25 uses \`@modelcontextprotocol/sdk\` with sessions and resumable streams, the
server of 2026-07-28 uses \`@modelcontextprotocol/server\`.

| column | configuration |
|---|---|
| directly | no gateway |
| 1 target | the server is the only target |
| 2 targets | a second server has another tool; \`prefixMode: never\` |
| stateless | one target; \`statefulMode: stateless\` |

## Passed checks

| protocol | ${WAYS.join(' | ')} |
|---|${WAYS.map(() => '---|').join('')}
`

export function report(
  byDate: readonly (readonly [string, Results])[],
  clients: readonly (readonly [string, ClientResults])[],
): string {
  const rows = byDate.map(([date, results]) => `| ${date} | ${WAYS.map((way) => passed(results[way])).join(' | ')} |\n`)
  const direct = byDate.flatMap(([date, { directly }]) => failed(directly).map((check) => row(date, check)))
  const through = byDate.flatMap(([date, results]) =>
    WAYS.flatMap((way) =>
      lost(results, way).map((check) => row(`${date} | ${way} | ${check.known ?? 'unknown'}`, check)),
    ),
  )
  return `${HEAD}${rows.join('')}
## Checks that pass directly, but not through the gateway

${table('| protocol | configuration | reason | scenario | check | report of the suite |\n|---|---|---|---|---|---|\n', through)}
## Checks that the server fails directly

${table('| protocol | scenario | check | report of the suite |\n|---|---|---|---|\n', direct)}
## Clients

In the client leg the suite is the server, and the official client calls it directly and through \`gw run\` with one target: all scenarios
but those of extensions. A check that passes directly passes through the gateway, or the command fails. In the scenarios of OAuth the
server signs clients in itself; the client uses the address of the server, at which the gateway gets its requests.

| protocol | directly | through the gateway |
|---|---|---|
${clients.map(([date, leg]) => `| ${date} | ${passed(leg.directly)} | ${passed(leg.gateway)} |\n`).join('')}`
}

const failed = (checks: readonly Check[]): Check[] => checks.filter(({ status }) => status === 'failed')

export function passed(checks: readonly Check[]): string {
  const ran = checks.filter(({ status }) => status !== 'skipped').length
  return `${ran - failed(checks).length} of ${ran}`
}

function table(head: string, rows: readonly string[]): string {
  return rows.length === 0 ? 'None.\n' : `${head}${rows.join('')}`
}

function row(columns: string, { scenario, id, reason }: Check): string {
  const text = reason.slice(0, REASON_CHARACTERS_MAX).replaceAll(/[\s|`<>]+/g, ' ')
  return `| ${columns} | ${scenario} | ${id} | ${text} |\n`
}
