// Live sessions over three replicas of the gateway. Each replica is killed in turn while clients call tools and listen:
// `make mcp-replicas ARGS='--sessions 1000'`. Fails if a client needs more than one retry, or hears nothing at the end.
import { Agent, type IncomingMessage } from 'node:http'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '#test/wait.ts'
import { LoadClient, type Seen } from './client.ts'
import { Replica } from './gateway.ts'
import { LoadServer } from './server.ts'

const REPLICAS = 3
const SERVERS = 2
const SETTLED_MS = 120_000
const HEARD_MS = 60_000
const NOTIFY_MS = 1000

export interface Outcome extends Seen {
  readonly sessions: number
  /** Streams that were opened again. */
  readonly reopened: number
  /** Sessions that got a message of each server at the end. */
  readonly heard: number
}

export async function killEach(sessions: number): Promise<Outcome> {
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => new LoadServer().start()))
  const replicas: Replica[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  try {
    for (let i = 0; i < REPLICAS; i++) replicas.push(await Replica.start(servers.map(({ port }) => port)))
    const seen: Seen = { calls: 0, retried: 0, failed: [] }
    const run = new Run({ ports: replicas.map(({ port }) => port), agent, seen })
    for (let i = 0; i < sessions; i++) await run.add(i)
    const over = run.load()
    for (const replica of replicas) {
      await run.settled()
      await replica.kill()
      await run.settled()
      await replica.restart()
    }
    await run.settled()
    run.isOver = true
    await over
    const deadline = performance.now() + HEARD_MS
    while (run.heard(SERVERS) < sessions && performance.now() < deadline) {
      for (const server of servers) server.notifyAll()
      await delay(NOTIFY_MS)
    }
    run.isClosed = true
    return { ...seen, sessions, reopened: run.reopened, heard: run.heard(SERVERS) }
  } finally {
    agent.destroy()
    for (const replica of replicas) await replica.stop()
    for (const server of servers) server.stop()
  }
}

class Run {
  readonly #options: { readonly ports: readonly number[]; readonly agent: Agent; readonly seen: Seen }
  readonly #clients: LoadClient[] = []
  readonly #messages: number[] = []
  /** Calls of each client that are over. */
  readonly #calls: number[] = []
  /** Streams that broke and are not open again. */
  #broken = 0
  reopened = 0
  /** No further calls. */
  isOver = false
  /** No further streams. */
  isClosed = false

  constructor(options: { ports: readonly number[]; agent: Agent; seen: Seen }) {
    this.#options = options
  }

  async add(index: number): Promise<void> {
    const { ports, agent, seen } = this.#options
    const client = new LoadClient(ports, { agent, seen, first: index })
    await client.open()
    this.#clients.push(client)
    this.#messages.push(0)
    this.#calls.push(0)
    this.#hear(index, await client.listen())
  }

  /** Each client calls a tool of each server in turn. */
  async load(): Promise<void> {
    await Promise.all(
      this.#clients.map(async (client, index) => {
        for (let call = 0; !this.isOver; call++) {
          await client.call(`t${(index + call) % SERVERS}_echo`).catch(counted)
          this.#calls[index] = call + 1
          await delay(this.#clients.length)
        }
      }),
    )
  }

  /** Each client has completed a call that began later, and has its stream: no retry waits for a replica. */
  async settled(): Promise<void> {
    const before = [...this.#calls]
    const isSettled = (): boolean =>
      this.#broken === 0 && this.#calls.every((calls, index) => calls >= (before[index] ?? 0) + 2)
    await until('each client has called again', isSettled, SETTLED_MS)
  }

  heard(messages: number): number {
    return this.#messages.filter((count) => count >= messages).length
  }

  /** Counts messages, and opens the stream again when it breaks. */
  #hear(index: number, stream: IncomingMessage): void {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (this.isOver) this.#messages[index] = (this.#messages[index] ?? 0) + text.split('data:').length - 1
    })
    stream.on('error', () => {})
    stream.once('close', () => void this.#hearAgain(index).catch(counted))
  }

  async #hearAgain(index: number): Promise<void> {
    const client = this.#clients[index]
    if (client === undefined || this.isClosed) return
    this.#broken++
    try {
      this.#hear(index, await client.listen())
      this.reopened++
    } finally {
      this.#broken--
    }
  }
}

/** In `failed`. */
function counted(): void {}

if (import.meta.main) {
  const { values } = parseArgs({ options: { sessions: { type: 'string', default: '1000' } } })
  const outcome = await killEach(Number(values.sessions))
  console.log({ ...outcome, failed: outcome.failed.length })
  for (const reason of outcome.failed.slice(0, 10)) console.log(reason)
  if (outcome.failed.length > 0 || outcome.heard < outcome.sessions) process.exitCode = 1
}
