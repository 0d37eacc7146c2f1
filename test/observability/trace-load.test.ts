// Traces under traffic: a watcher that does not read does not slow requests, and requests of all workers can be
// watched.
// @module-tag full
import { createServer, type Server } from 'node:http'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import { watchTrace } from '#proxy/trace/watcher.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const CLIENTS = 8
const REQUESTS = 2000
const DEADLINE_MS = 60_000
/** Enough expressions for a trace that is larger than the buffers of the kernel. */
const EXPRESSIONS = 900

let upstream: Server
let gateway: TestProxy
const agents: Agent[] = []

beforeAll(async () => {
  upstream = createServer((_request, response) => response.end('ok'))
  const backend = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  const matchExpressions = Array.from({ length: EXPRESSIONS }, (_, i) => `request.headers["x-n"] != "${i}"`)
  gateway = await testProxy({
    workers: 2,
    routes: [
      {
        name: 'wordy',
        prefix: '/wordy',
        backend,
        inline: { authorization: { action: 'Require', matchExpressions } },
      },
      { name: 'all', prefix: '/', backend },
    ],
  })
})

afterAll(async () => {
  for (const agent of agents) agent.destroy()
  await gateway.stop()
  closeServer(upstream)
})

const newAgent = (): Agent => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agents.push(agent)
  return agent
}

/** Resolves to the status when the response is complete. */
function send(agent: Agent, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const call = request(gateway.url + path, { agent, headers }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0))
  })
  call.on('error', reject)
  call.end()
  return promise
}

async function dropped(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
  return Number(/^gw_trace_events_dropped_total (\d+)$/m.exec(text)?.[1])
}

/** A reader that stops reading after it is ready. */
async function stalledWatcher(): Promise<{ readonly socket: Socket; readonly text: () => string }> {
  const socket = connect({ host: '127.0.0.1', port: gateway.proxy.ports.admin })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  socket.write('GET /debug/trace HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await expect.poll(() => text).toContain(': ready\n\n')
  socket.pause()
  return { socket, text: () => text }
}

describe('a watcher that stops reading', () => {
  it(
    'loses events, which are counted, while thousands of requests are served',
    async () => {
      expect(await dropped()).toBe(0)
      const { socket, text } = await stalledWatcher()
      expect(await send(newAgent(), '/wordy', { 'x-n': 'a', 'x-filler': 'f'.repeat(12_000) })).toBe(200)
      const statuses = new Map<number, number>()
      const clients = Array.from({ length: CLIENTS }, async () => {
        const agent = newAgent()
        for (let i = 0; i < REQUESTS / CLIENTS; i++) {
          const status = await send(agent, '/x')
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      })
      await Promise.all(clients)
      expect([...statuses]).toEqual([[200, REQUESTS]])
      const lost = await dropped()
      expect(lost).toBeGreaterThan(0)
      socket.resume()
      await expect.poll(() => text().endsWith('0\r\n\r\n'), { timeout: DEADLINE_MS }).toBe(true)
      expect(text()).toContain(`: ${lost} events were dropped\n\n`)
      expect(text()).toContain('"type":"requestStarted"')
      expect(text()).toMatch(/"type":"requestFinished","status":200/)
      socket.destroy()
    },
    DEADLINE_MS,
  )
})

describe('a watcher', () => {
  it(
    'gets the request of any worker',
    async () => {
      const clients = Array.from({ length: 16 }, newAgent)
      for (const agent of clients) await send(agent, '/x')
      const tasks = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}/debug/tasks`)).json()
      // The contract of the endpoint.
      const { workload } = tasks as components['schemas']['Tasks']
      for (const worker of ['worker-0', 'worker-1']) {
        expect(workload).toContainEqual(expect.stringMatching(new RegExp(`^${worker}: [1-9]`)))
      }
      for (const [i, agent] of clients.entries()) {
        const expression = `request.pathAndQuery == "/x?n=${i}"`
        const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin, expression })
        await send(agent, `/x?n=${i}`)
        expect((await watcher.ended).at(-1)?.message.type).toBe('requestFinished')
      }
    },
    DEADLINE_MS,
  )

  it('gets the reason why its expression matches no request', async () => {
    const expression = 'request.headers["x-tenant"] == "a"'
    const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin, expression })
    const agent = newAgent()
    await send(agent, '/x')
    const reason = 'the expression fails for 1 requests: no such key: x-tenant'
    await expect.poll(() => watcher.comments, { timeout: DEADLINE_MS }).toContainEqual(reason)
    await send(agent, '/x', { 'x-tenant': 'a' })
    expect((await watcher.ended).at(-1)?.message.type).toBe('requestFinished')
  })

  it('is rejected with the position of the error if the expression does not parse', async () => {
    const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin, expression: 'request.' })
    expect(watcher.response.statusCode).toBe(400)
    watcher.close()
  })
})
