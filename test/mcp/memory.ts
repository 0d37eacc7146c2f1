// `make mcp-memory`: memory of a worker with 1,000 sessions over two servers, each with an open stream, above idle.
import { Agent, type IncomingMessage } from 'node:http'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { LoadClient, type Seen } from './client.ts'
import { Replica } from './gateway.ts'
import { LoadServer } from './server.ts'

const GOAL_MIB = 64
/** Load the code and fill the caches before idle is measured. */
const FIRST_SESSIONS = 50
const REST_MS = 8000

const { values } = parseArgs({ options: { sessions: { type: 'string', default: '1000' } } })
const sessions = Number(values.sessions)

const servers = [await new LoadServer().start(), await new LoadServer().start()]
const gateway = await Replica.start(servers.map(({ port }) => port))
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
const seen: Seen = { calls: 0, retried: 0, failed: [] }

/** Closes all. */
async function opened(count: number): Promise<() => void> {
  const streams: IncomingMessage[] = []
  for (let first = 0; first < count; first++) {
    const client = new LoadClient([gateway.port], { agent, seen, first })
    await client.open()
    streams.push((await client.listen()).on('error', () => {}))
  }
  return () => {
    for (const stream of streams) stream.destroy()
  }
}

try {
  const close = await opened(FIRST_SESSIONS)
  close()
  await delay(REST_MS)
  const idle = await gateway.use()
  await opened(sessions)
  await delay(REST_MS)
  const used = await gateway.use()
  const streams = servers.reduce((sum, server) => sum + server.streams, 0)
  const above = used.rssMiB - idle.rssMiB
  console.log(
    `${sessions} sessions with ${streams} streams of servers: ${above.toFixed(1)} MiB above ${idle.rssMiB.toFixed(1)}`,
  )
  if (above > GOAL_MIB || streams !== 2 * sessions) process.exitCode = 1
} finally {
  agent.destroy()
  await gateway.stop()
  for (const server of servers) server.stop()
}
