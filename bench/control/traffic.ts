// What a client sees: requests through the proxy over one kept connection, and the upstreams that answer them.
import { once } from 'node:events'
import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { hostOf, type Address } from './cluster.ts'

/** Between two requests of one that waits: what is measured also needs the processor. */
const PAUSE_MS = 1
const WAIT_MS = 60_000

export interface Upstream {
  readonly address: Address
  readonly close: () => void
}

/** EndpointSlices refuse loopback addresses, so upstreams listen on one of the machine's own. */
export function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (found === undefined) throw new Error('the machine has no IPv4 address but loopback, which EndpointSlices refuse')
  return found.address
}

/** Answers everything with its name. */
export async function upstream(name: string, ip: string): Promise<Upstream> {
  const server: Server = createServer((incoming, response) => {
    incoming.resume()
    response.end(name)
  })
  server.listen(0, ip)
  await once(server, 'listening')
  // A listening TCP server has one.
  const { port } = server.address() as AddressInfo
  return {
    address: { ip, port },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export interface Answer {
  readonly status: number
  /** Of the route. */
  readonly version: string
  readonly body: string
}

const NOT_LISTENING: Answer = { status: 0, version: '', body: '' }

export class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  get(name: string): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const options = { host: '127.0.0.1', port: this.#port, agent: this.#agent, headers: { host: hostOf(name) } }
    const outgoing = request(options, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, version: String(response.headers['x-bench'] ?? ''), body })
      })
      response.on('error', () => resolve(NOT_LISTENING))
    })
    outgoing.on('error', () => resolve(NOT_LISTENING))
    outgoing.end()
    return promise
  }

  /** Resolves with the time of the first answer that is as it should be. */
  async until(name: string, isRight: (answer: Answer) => boolean): Promise<number> {
    const deadline = performance.now() + WAIT_MS
    for (;;) {
      const answer = await this.get(name)
      const now = performance.now()
      if (isRight(answer)) return now
      if (now > deadline) throw new Error(`${hostOf(name)}: ${JSON.stringify(answer)} after ${WAIT_MS} ms`)
      await delay(PAUSE_MS)
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}
