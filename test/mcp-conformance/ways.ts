// The ways to a server of the suite: directly, and through `gw run` with one target, with two, and stateless.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ANY_PORTS, GwProcess } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'
import { known } from './known.ts'
import { type ConformanceServer, startServer } from './server.ts'
import { type Check, checks, type ProtocolDate } from './suite.ts'

export const WAYS = ['directly', '1 target', '2 targets', 'stateless'] as const
export type Way = (typeof WAYS)[number]

export type Results = Readonly<Record<Way, readonly Check[]>>

export async function allWays(date: ProtocolDate): Promise<Results> {
  const era = date === '2026-07-28' ? 'modern' : 'legacy'
  const servers: ConformanceServer[] = []
  try {
    const server = await startServer(era, 'everything')
    servers.push(server)
    const other = await startServer(era, 'one other tool')
    servers.push(other)
    const url = `http://127.0.0.1:${server.port}/mcp`
    const one = [{ name: 'suite', mcp: { host: url } }]
    const two = [...one, { name: 'other', mcp: { host: `http://127.0.0.1:${other.port}/mcp` } }]
    const [directly, oneTarget, twoTargets, stateless] = await Promise.all([
      checks(url, date),
      through({ targets: one }, date),
      through({ targets: two, prefixMode: 'never' }, date),
      through({ targets: one, statefulMode: 'stateless' }, date),
    ])
    return { directly, '1 target': oneTarget, '2 targets': twoTargets, stateless }
  } finally {
    for (const { close } of servers) close()
  }
}

async function through(mcp: Readonly<Record<string, unknown>>, date: ProtocolDate): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-conformance-'))
  const port = await freePort()
  const file = join(folder, 'gateway.json')
  writeFileSync(file, JSON.stringify({ mcp: { port, ...mcp } }))
  const gateway = new GwProcess(['run', '-f', file, ...ANY_PORTS])
  try {
    await gateway.says('gw: serving')
    return await checks(`http://127.0.0.1:${port}/mcp`, date)
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A check that passes directly, but not through the gateway. */
export interface Lost extends Check {
  /** Why the gateway cannot pass it. Undefined: a defect. */
  readonly known: string | undefined
}

/** A scenario that ends early lacks checks: they have not passed. */
export function lost(results: Results, way: Way): Lost[] {
  const reached = new Map(results[way].map((check) => [key(check), check]))
  return results.directly
    .filter(({ status }) => status === 'passed')
    .map((check) => reached.get(key(check)) ?? { ...check, status: 'failed' as const, reason: 'did not run' })
    .filter(({ status }) => status !== 'passed')
    .map((check) => ({ ...check, known: known(way, check) }))
}

const key = ({ scenario, id }: Check): string => `${scenario} ${id}`
