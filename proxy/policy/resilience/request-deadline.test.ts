// `timeouts.request` for the whole exchange, over a real proxy: bodies without end in both directions and versions.
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { constants } from 'node:http2'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { RawClient } from '../../http/server.testing.ts'
import { ask, connect } from '../../http2/bind-server.testing.ts'
import { messageOf, watchTrace } from '../../trace/watcher.testing.ts'

const REQUEST_MS = 150
/** Tries of a request whose backend has to answer within `REQUEST_MS`, which a busy machine may not do. */
const TRIES_MAX = 20
const PIECE = 'x'.repeat(1000)

let upstream: Server
let gateway: TestProxy
/** Responses whose bodies never end; aborted ones are removed. */
const endless = new Set<ServerResponse>()

/** Sends a chunk whenever the previous one was sent, while the peer reads. */
function drip(response: ServerResponse): void {
  response.write(PIECE, () => {
    setTimeout(() => {
      if (!response.destroyed) drip(response)
    }, 5)
  })
}

const KINDS: Record<string, (response: ServerResponse) => void> = {
  // Announces more than it sends.
  '/stalled': (response) => response.writeHead(200, { 'content-length': '1000' }).write('part'),
  '/dripping': (response) => drip(response.writeHead(200)),
  '/quick': (response) => response.end('done'),
}

beforeAll(async () => {
  upstream = createServer((request, response) => {
    endless.add(response)
    response.on('close', () => endless.delete(response))
    request.resume()
    const kind = new URL(request.url ?? '', 'http://a').searchParams.get('kind') ?? 'quick'
    KINDS[`/${kind}`]?.(response)
  })
  upstream.on('upgrade', (_request: IncomingMessage, socket: Duplex) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: lines\r\n\r\n')
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  const port = await listening(upstream)
  const backend = { static: { host: '127.0.0.1', port } }
  const timed = (name: string, traffic: TrafficPayload = {}, requestMs = REQUEST_MS) => ({
    name,
    prefix: `/${name}`,
    backend,
    backendInline: { http: { version: 'HTTP1' } } as const,
    inline: { timeouts: { requestMs }, ...traffic },
  })
  const whole = { bytesMax: 100_000, failureMode: 'FailClosed' } as const
  const readsBody = { set: [{ name: 'x-size', expression: 'string(size(request.body))' }] }
  const readsAnswer = { set: [{ name: 'x-size', expression: 'string(size(response.body))' }] }
  gateway = await testProxy({
    routes: [
      timed('plain'),
      timed('held', { buffer: { request: whole } }),
      timed('read', { transformation: { request: readsBody } }),
      timed('answer-held', { buffer: { response: whole } }),
      timed('answer-read', { transformation: { response: readsAnswer } }),
      timed('patient', {}, 60_000),
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const response of endless) response.destroy()
  closeServer(upstream)
})

async function timeouts(status: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('gw_requests_total{'))
  const mine = lines.filter((line) => line.includes('reason="Timeout"') && line.includes(`status="${status}"`))
  return mine.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Repeats what shows nothing, because the time was up before the backend began its response. */
async function begun<T>(attempt: () => Promise<T>, statusOf: (result: T) => unknown): Promise<T> {
  for (let tries = 1; ; tries++) {
    const result = await attempt()
    if (Number(statusOf(result)) !== 504 || tries === TRIES_MAX) return result
  }
}

/** Status, the received body, and how it ended. */
async function get(path: string): Promise<{ status: number | undefined; body: string; error: string | undefined }> {
  const call = httpRequest(gateway.url + path)
  call.end()
  const [response] = (await once(call, 'response')) as [IncomingMessage] // as its types say
  let body = ''
  let error: string | undefined
  response.on('error', (problem: NodeJS.ErrnoException) => {
    error = problem.code
  })
  response.on('data', (chunk: Buffer) => {
    body += chunk.toString()
  })
  await new Promise((resolve) => {
    response.once('close', resolve)
  })
  return { status: response.statusCode, body, error }
}

describe('a response that has begun', () => {
  it.each(['stalled', 'dripping'])('is cut for HTTP/1.1: %s body', async (kind) => {
    const before = await timeouts(200)
    const answer = await begun(
      () => get(`/plain?kind=${kind}`),
      ({ status }) => status,
    )
    expect(answer).toMatchObject({ status: 200, error: 'ECONNRESET' })
    expect(answer.body.length).toBeGreaterThan(0)
    await until('the backend stream to close', () => endless.size === 0)
    await until('the metric', async () => (await timeouts(200)) === before + 1)
  })

  it('is cut for HTTP/1.0, where a plain end of the connection would make it look complete', async () => {
    const before = await timeouts(200)
    const { text, code } = await begun(
      async () => {
        const client = await RawClient.connect(gateway.port)
        let error: NodeJS.ErrnoException | undefined
        client.socket.on('error', (reason) => (error = reason))
        client.send('GET /plain?kind=dripping HTTP/1.0\r\nhost: a\r\n\r\n')
        await new Promise((resolve) => client.socket.once('close', resolve))
        return { text: client.text, code: error?.code }
      },
      (seen) => seen.text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length),
    )
    expect(code).toBe('ECONNRESET')
    expect(text).toMatch(/^HTTP\/1.1 200 /)
    expect(text.toLowerCase()).not.toContain('transfer-encoding')
    await until('the metric', async () => (await timeouts(200)) === before + 1)
  })

  it.each(['stalled', 'dripping'])('is cut for HTTP/2, and the connection stays open: %s body', async (kind) => {
    const before = await timeouts(200)
    const session = connect(gateway.port)
    const answer = await begun(
      () => ask(session, { ':path': `/plain?kind=${kind}` }),
      ({ headers }) => headers[':status'],
    )
    expect(answer.headers[':status']).toBe(200)
    expect(answer.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR)
    expect(answer.body.length).toBeGreaterThan(0)
    expect(await ask(session, { ':path': '/patient' })).toMatchObject({ body: 'done', rstCode: 0 })
    session.destroy()
    await until('the backend stream to close', () => endless.size === 0)
    await until('the metric', async () => (await timeouts(200)) === before + 1)
  })

  it('is not cut on a route with more time', async () => {
    const client = await RawClient.connect(gateway.port)
    client.send('GET /patient?kind=stalled HTTP/1.1\r\nhost: a\r\n\r\n')
    await client.sees('part')
    // As long as the other route would have waited.
    await get('/plain?kind=stalled')
    expect(client.isEnded).toBe(false)
    client.socket.destroy()
  })

  it('is reported to a watcher', async () => {
    const { events } = await begun(
      async () => {
        const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
        const { status } = await get('/plain?kind=stalled')
        return { status, events: await watcher.ended }
      },
      ({ status }) => status,
    )
    expect(messageOf(events, 'policyEvent')).toMatchObject({
      kind: 'timeout',
      details: 'timeout: the response is truncated',
    })
    expect(messageOf(events, 'requestFinished')).toMatchObject({
      status: 200,
      error: 'request timeout: the response was cut short',
    })
  })

  it('ends with a switch of protocols: the tunnel has no deadline', async () => {
    const client = await begun(
      async () => {
        const tried = await RawClient.connect(gateway.port)
        tried.send('GET /plain HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: lines\r\n\r\n')
        await tried.sees('\r\n\r\n')
        return tried
      },
      ({ text }) => text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length),
    )
    expect(client.text).toContain('101 Switching Protocols')
    // Started later, ended sooner.
    await get('/plain?kind=stalled')
    client.send('still here\n')
    await client.sees('still here')
    expect(client.isEnded).toBe(false)
    client.socket.destroy()
  })
})

describe('a body that delays the response', () => {
  const OPEN = 'content-length: 1000\r\n\r\npart'

  it.each(['plain', 'held', 'read'])('of a slow client: 504 on /%s', async (route) => {
    const before = await timeouts(504)
    const client = await RawClient.connect(gateway.port)
    client.send(`POST /${route}?kind=quiet HTTP/1.1\r\nhost: a\r\n${OPEN}`)
    expect(await client.ends()).toMatch(/^HTTP\/1.1 504 [\s\S]*request timeout$/)
    await until('the metric', async () => (await timeouts(504)) === before + 1)
  })

  it.each(['plain', 'held', 'read'])('of a slow client over HTTP/2: 504 on /%s', async (route) => {
    const session = connect(gateway.port)
    const stream = session.request({ ':path': `/${route}?kind=quiet`, ':method': 'POST' })
    stream.on('error', () => {})
    stream.write('part')
    const [headers] = await once(stream, 'response')
    expect(headers).toMatchObject({ ':status': 504 })
    expect(await ask(session, { ':path': '/patient' })).toMatchObject({ body: 'done', rstCode: 0 })
    session.destroy()
  })

  it.each(['answer-held', 'answer-read'])('of a backend: 504 on /%s', async (route) => {
    const response = await fetch(`${gateway.url}/${route}?kind=stalled`)
    expect([response.status, await response.text()]).toEqual([504, 'request timeout'])
    await until('the backend stream to close', () => endless.size === 0)
  })

  it('does not affect requests in time', async () => {
    const response = await begun(
      () => fetch(`${gateway.url}/held`, { method: 'POST', body: PIECE }),
      ({ status }) => status,
    )
    expect([response.status, await response.text()]).toEqual([200, 'done'])
  })
})
