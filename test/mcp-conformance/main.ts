// `make mcp-conformance`: writes docs/mcp/conformance.md. The exit code is 1 if a check without a known reason passes
// directly, but not through the gateway.
import { writeFileSync } from 'node:fs'
import { type ClientResults, clientLeg, lostByClients } from './client-leg.ts'
import { passed, REPORT, report } from './report.ts'
import { DATES, install } from './suite.ts'
import { allWays, lost, type Results, WAYS } from './ways.ts'

await install()
const byDate: [string, Results][] = []
const clients: [string, ClientResults][] = []
for (const date of DATES) {
  const results = await allWays(date)
  byDate.push([date, results])
  for (const way of WAYS) {
    process.stdout.write(`${date} ${way}: ${passed(results[way])}\n`)
    for (const { scenario, id, reason } of lost(results, way).filter((check) => check.known === undefined)) {
      process.stdout.write(`  passes directly only: ${scenario} ${id}: ${reason}\n`)
      process.exitCode = 1
    }
  }
  const leg = await clientLeg(date)
  clients.push([date, leg])
  process.stdout.write(
    `${date} clients: ${passed(leg.directly)} directly, ${passed(leg.gateway)} through the gateway\n`,
  )
  for (const { scenario, id, reason } of lostByClients(leg)) {
    process.stdout.write(`  passes directly only: ${scenario} ${id}: ${reason}\n`)
    process.exitCode = 1
  }
}
writeFileSync(REPORT, report(byDate, clients))
