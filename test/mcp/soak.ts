// Clients that leave: `make mcp-soak ARGS='--minutes 15'`. They open sessions, call tools, and abandon streams and
// calls, half of them without DELETE. Prints what the gateway uses, and fails if it grows.
import { Agent } from 'node:http'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { LoadClient, type Seen } from './client.ts'
import { Replica, type Use } from './gateway.ts'
import { LoadServer } from './server.ts'

const CLIENTS = 8
/** Each closed connection keeps a local port for a minute: more rounds would use them up. */
const PAUSE_MS = 40
const SAMPLE_MS = 15_000
/** Garbage comes and goes: the least of several reads counts. */
const READS = 10
const REST_MS = 10_000
const GROWTH_MAX = { descriptors: 64, heapMiB: 8 }

interface Sample extends Use {
  readonly second: number
  readonly rounds: number
  /** At both servers. */
  readonly streams: number
}

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '15' } } })
const endMs = performance.now() + Number(values.minutes) * 60_000

async function main(): Promise<void> {
  const servers = [await new LoadServer().start(), await new LoadServer().start()]
  const gateway = await Replica.start(servers.map(({ port }) => port))
  const agent = new Agent({ keepAlive: true })
  const seen: Seen = { calls: 0, retried: 0, failed: [] }
  const samples: Sample[] = []
  let rounds = 0
  const client = async (first: number): Promise<void> => {
    for (; performance.now() < endMs; rounds++) {
      await round(new LoadClient([gateway.port], { agent, seen, first }), rounds).catch((error: unknown) =>
        seen.failed.push(String(error)),
      )
      await delay(PAUSE_MS)
    }
  }
  const sample = async (): Promise<void> => {
    const streams = servers.reduce((sum, server) => sum + server.streams + server.silent, 0)
    samples.push({ second: Math.round(process.uptime()), rounds, streams, ...(await leastUse(gateway)) })
  }
  try {
    await sample()
    const over = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)))
    while (performance.now() < endMs) {
      await delay(SAMPLE_MS)
      await sample()
    }
    await over
    agent.destroy()
    await delay(REST_MS)
    await sample()
    report(samples, seen)
  } finally {
    await gateway.stop()
    for (const server of servers) server.stop()
  }
}

async function round(client: LoadClient, number: number): Promise<void> {
  await client.open()
  await client.call('t0_echo')
  const stream = await client.listen()
  stream.on('error', () => {})
  if (number % 3 === 0) await delay(PAUSE_MS)
  stream.destroy()
  await client.abandonCall('t1_silent')
  if (number % 2 === 0) await client.end()
}

async function leastUse(gateway: Replica): Promise<Use> {
  let least = await gateway.use()
  for (let i = 1; i < READS; i++) {
    await delay(SAMPLE_MS / READS / 10)
    const next = await gateway.use()
    least = {
      descriptors: Math.min(least.descriptors, next.descriptors),
      sockets: Math.min(least.sockets, next.sockets),
      rssMiB: Math.min(least.rssMiB, next.rssMiB),
      heapMiB: Math.min(least.heapMiB, next.heapMiB),
    }
  }
  return least
}

/** The second quarter is warm: the last one must not be above it. */
function report(samples: readonly Sample[], { calls, retried, failed }: Seen): void {
  console.table(samples.map((one) => ({ ...one, rssMiB: Math.round(one.rssMiB), heapMiB: Math.round(one.heapMiB) })))
  const underLoad = samples.slice(1, -1)
  const quarter = Math.max(1, Math.floor(underLoad.length / 4))
  const growth = (of: (sample: Sample) => number): number =>
    Math.min(...underLoad.slice(-quarter).map(of)) - Math.min(...underLoad.slice(quarter, 2 * quarter).map(of))
  const descriptors = growth((sample) => sample.descriptors)
  const heapMiB = growth((sample) => sample.heapMiB)
  const streams = samples.at(-1)?.streams
  console.log({ calls, retried, failed: failed.length, descriptors, heapMiB: Math.round(heapMiB * 10) / 10, streams })
  for (const reason of failed.slice(0, 10)) console.log(reason)
  const isFlat = descriptors <= GROWTH_MAX.descriptors && heapMiB <= GROWTH_MAX.heapMiB && streams === 0
  if (!isFlat || failed.length > 0) process.exitCode = 1
}

await main()
