// A client that sends requests through the proxy over one kept connection, and the upstreams that answer them. It uses
// sockets and prepared texts, not node:http: the wait for a change must not take processor time from the change.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { hostOf, type Address } from './cluster.ts'

/** Milliseconds between two requests while a client waits, unless the caller has another number. */
const PAUSE_MS = 1
/** 20,000 routes on a busy machine take a minute. */
const WAIT_MS = 300_000
const HEAD_END = '\r\n\r\n'

export interface Upstream {
  readonly address: Address
  readonly close: () => void
}

/** EndpointSlices reject loopback addresses, so upstreams listen on an address of the machine. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (found === undefined) throw new Error('the machine has no IPv4 address but loopback, which EndpointSlices refuse')
  return found.address
}

/** Answers every head with its name; requests of this benchmark have no bodies. */
export async function upstream(name: string, ip: string): Promise<Upstream> {
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${name.length}${HEAD_END}${name}`
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    let rest = ''
    sockets.add(socket)
    socket.setNoDelay().setEncoding('latin1')
    socket.on('data', (text: string) => {
      rest += text
      for (let end = rest.indexOf(HEAD_END); end !== -1; end = rest.indexOf(HEAD_END)) {
        rest = rest.slice(end + HEAD_END.length)
        socket.write(answer)
      }
    })
    // The proxy may close it at any moment.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, ip)
  await once(server, 'listening')
  // A listening TCP server has an address.
  const { port } = server.address() as AddressInfo
  return {
    address: { ip, port },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

export interface Answer {
  readonly status: number
  /** Name of the route. */
  readonly version: string
  /** Of its policy. */
  readonly policy: string
  readonly body: string
}

const NOT_LISTENING: Answer = { status: 0, version: '', policy: '', body: '' }

export class Client {
  readonly #port: number
  readonly #address: string
  #socket: Socket | undefined = undefined
  #received = ''
  #resolve: (answer: Answer) => void = () => {}
  /** Requests so far. */
  requests = 0
  /** Those without the answer of a route. */
  failures = 0

  constructor(port: number, address = '127.0.0.1') {
    this.#port = port
    this.#address = address
  }

  /** One at a time. */
  get(name: string): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    this.#resolve = resolve
    this.#received = ''
    this.requests++
    this.#socket ??= this.#connect()
    this.#socket.write(`GET / HTTP/1.1\r\nhost: ${hostOf(name)}${HEAD_END}`)
    return promise
  }

  /** Resolves with the time of the first expected response. */
  async until(name: string, isRight: (answer: Answer) => boolean, pauseMs = PAUSE_MS): Promise<number> {
    const deadline = performance.now() + WAIT_MS
    for (;;) {
      const answer = await this.get(name)
      const now = performance.now()
      if (answer.status !== 200) this.failures++
      if (isRight(answer)) return now
      if (now > deadline) throw new Error(`${hostOf(name)}: ${JSON.stringify(answer)} after ${WAIT_MS} ms`)
      await delay(pauseMs)
    }
  }

  /** Sends as many requests as a client that waits for a change. */
  async repeat(name: string, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      await this.get(name)
      await delay(PAUSE_MS)
    }
  }

  close(): void {
    this.#socket?.destroy()
  }

  #connect(): Socket {
    const socket = connect(this.#port, this.#address).setNoDelay().setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      const answer = parse(this.#received)
      if (answer !== undefined) this.#resolve(answer)
    })
    // Followed by 'close'.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#socket = undefined
      this.#resolve(NOT_LISTENING)
    })
    return socket
  }
}

/** undefined: incomplete. Every response of the proxy has a length. */
function parse(text: string): Answer | undefined {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return undefined
  const head = text.slice(0, end)
  const body = text.slice(end + HEAD_END.length)
  if (body.length < Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)) return undefined
  const header = (line: RegExp): string => line.exec(head)?.[1] ?? ''
  const [version, policy] = [header(/^x-bench: (.*)$/im), header(/^x-policy: (.*)$/im)]
  return { status: Number(head.slice(9, 12)), version, policy, body }
}
