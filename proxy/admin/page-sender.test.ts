// `/debug/send` of a real proxy: requests of the web UI, and attacks of other pages and of responses.
import { createServer, request as httpRequest, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '../main.testing.ts'
import { startTlsProxy } from '../tls/proxy.testing.ts'

interface Frame {
  readonly type: string
  readonly status?: number
  readonly headers?: readonly (readonly [string, string])[]
  readonly data?: string
  readonly message?: string
  readonly event?: { readonly message: { readonly type: string } }
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

const RESPONSE_BYTES_MAX = 16 * 1024 * 1024

let upstream: Server
let upstreamPort: number
const seen: string[] = []
let gateway: TestProxy
const held: (() => void)[] = []

beforeAll(async () => {
  upstream = createServer((request, response) => {
    seen.push(`${request.method} ${request.headers.host}${request.url}`)
    if (request.url === '/held') held.push(() => response.end())
    else if (request.url === '/large') response.end(Buffer.alloc(RESPONSE_BYTES_MAX + 1))
    else if (request.url === '/moved') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
    else if (request.url === '/broken')
      response.writeHead(200, { 'content-length': '10' }).write('abc', () => response.destroy())
    else if (request.url === '/page') {
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=b' }).end('<script>steal()</script>')
    } else request.pipe(response)
  })
  upstreamPort = await listening(upstream)
  const backend = { static: { host: '127.0.0.1', port: upstreamPort } }
  gateway = await testProxy({
    settings: { uiActions: true },
    routes: [
      { name: 'all', prefix: '/', backend },
      {
        name: 'rejected',
        prefix: '/rejected',
        backend,
        inline: { authorization: { action: 'Deny', matchExpressions: ['true'] } },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

/** With fields that fetch does not allow. */
function post(
  body: string,
  headers: Readonly<Record<string, string>> = {},
  port = gateway.proxy.ports.admin,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path: '/debug/send',
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
        response.on('error', reject)
      },
    )
    call.on('error', reject).end(body)
  })
}

async function send(request: object): Promise<Frame[]> {
  return framesOf((await post(JSON.stringify(request))).text)
}

function framesOf(text: string): Frame[] {
  return text.split('\n').flatMap((line): Frame[] => (line === '' ? [] : [JSON.parse(line)]))
}

function bodyOf(frames: readonly Frame[]): string {
  return frames.map(({ data = '' }) => Buffer.from(data, 'base64').toString('utf8')).join('')
}

describe('/debug/send', () => {
  it('sends a request through the listener, and returns the response with its trace', async () => {
    const frames = await send({
      url: `${gateway.url}/echo?x=1`,
      method: 'POST',
      headers: [['host', 'shop.example']],
      body: 'grüße',
    })
    expect(frames.find(({ type }) => type === 'head')).toMatchObject({ status: 200 })
    expect(bodyOf(frames)).toBe('grüße')
    const events = frames.flatMap(({ event }) => (event === undefined ? [] : [event.message.type]))
    expect([events[0], events.at(-1)]).toEqual(['requestStarted', 'requestFinished'])
    expect(frames.at(-1)).toEqual({ type: 'end' })
    expect(seen).toContain('POST shop.example/echo?x=1')
  })

  it('applies the policies of the route', async () => {
    const frames = await send({ url: `${gateway.url}/rejected` })
    expect(frames.find(({ type }) => type === 'head')).toMatchObject({ status: 403 })
  })

  it('sends requests to a port with TLS, with the server name of the host', async () => {
    const port = await freePort()
    const pair = certificateFor({ commonName: 'a.example', names: ['DNS:a.example'] })
    const tls = await startTlsProxy(
      {
        listeners: [
          { name: 'b', port, protocol: 'HTTPS', hostname: 'b.example', pair, answers: 'b' },
          { name: 'a', port, protocol: 'HTTPS', hostname: 'a.example', pair, answers: 'a' },
        ],
      },
      1,
      { uiActions: true },
    )
    const answer = await post(JSON.stringify({ url: `https://a.example:${port}/` }), {}, tls.proxy.ports.admin)
    expect(bodyOf(framesOf(answer.text))).toBe('a')
    await tls.stop()
  })

  it('reports a response that breaks off, or is too long', async () => {
    expect((await send({ url: `${gateway.url}/broken` })).at(-1)).toEqual({ type: 'error', message: 'aborted' })
    expect((await send({ url: `${gateway.url}/large` })).at(-1)).toEqual({
      type: 'error',
      message: `the response is longer than ${RESPONSE_BYTES_MAX} bytes`,
    })
  })

  it('sends four requests at a time', async () => {
    const all = Array.from({ length: 4 }, () => send({ url: `${gateway.url}/held` }))
    await expect.poll(() => held.length).toBe(4)
    expect(await post(JSON.stringify({ url: gateway.url }))).toMatchObject({ status: 503 })
    for (const end of held.splice(0)) end()
    for (const frames of await Promise.all(all)) expect(frames.at(-1)).toEqual({ type: 'end' })
    expect((await send({ url: gateway.url })).at(-1)).toEqual({ type: 'end' })
  })

  it('is off by default', async () => {
    const other = await testProxy({ routes: [] })
    const answer = await post(JSON.stringify({ url: other.url }), {}, other.proxy.ports.admin)
    expect(answer).toMatchObject({ status: 403 })
    expect(answer.text).toContain('set UI_ACTIONS=true')
    await other.stop()
  })
})

describe('attacks on /debug/send', () => {
  it('reaches no port but those of listeners (SSRF)', async () => {
    const before = seen.length
    for (const port of [upstreamPort, gateway.proxy.ports.admin, gateway.proxy.ports.stats, 22, 0, -1, 65_536]) {
      const answer = await post(JSON.stringify({ url: `${gateway.url}/ssrf`, port }))
      expect([port, answer.status]).toEqual([port, 400])
    }
    const asText = await post(JSON.stringify({ url: gateway.url, port: String(gateway.port) }))
    expect(asText).toMatchObject({ status: 400, text: 'port: must be that of a listener of this proxy\n' })
    expect((await post(JSON.stringify({ url: `http://127.0.0.1:${upstreamPort}/` }))).status).toBe(400)
    expect((await post(JSON.stringify({ url: 'file:///etc/passwd', port: gateway.port }))).status).toBe(400)
    expect(seen.length).toBe(before)
  })

  it('connects to the listener whatever host the URL names (SSRF)', async () => {
    const frames = await send({ url: 'http://169.254.169.254/latest/meta-data', port: gateway.port })
    expect(frames.find(({ type }) => type === 'head')).toMatchObject({ status: 200 })
    expect(seen.at(-1)).toBe('GET 169.254.169.254/latest/meta-data')
  })

  it('follows no redirect (SSRF)', async () => {
    const frames = await send({ url: `${gateway.url}/moved` })
    expect(frames.find(({ type }) => type === 'head')).toMatchObject({ status: 302 })
    expect(frames.at(-1)).toEqual({ type: 'end' })
  })

  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another port', { 'sec-fetch-site': 'same-site' }],
    ['that a user opens', { 'sec-fetch-site': 'none' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['without an origin', { origin: 'null' }],
    ['of a web UI under development', { origin: 'http://localhost:3000' }],
    ['of another origin in a form', { origin: 'https://evil.example', 'content-type': 'text/plain' }],
  ])('rejects pages %s (CSRF)', async (_, headers) => {
    const before = seen.length
    expect((await post(JSON.stringify({ url: `${gateway.url}/csrf` }), headers)).status).toBe(403)
    expect(seen.length).toBe(before)
  })

  it('rejects the media types of forms (CSRF)', async () => {
    const form = { 'content-type': 'text/plain' }
    expect((await post(JSON.stringify({ url: gateway.url }), form)).status).toBe(415)
  })

  it('rejects hosts that do not name this machine (DNS rebinding)', async () => {
    const before = seen.length
    for (const host of ['evil.example', `evil.example:${gateway.proxy.ports.admin}`, 'localhost.evil.example']) {
      const rebound = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }
      expect((await post(JSON.stringify({ url: `${gateway.url}/rebound` }), rebound)).status).toBe(403)
    }
    expect(seen.length).toBe(before)
  })

  it.each([
    ['a line break in a value', { headers: [['x-a', 'b\r\nx-admin: true']] }],
    ['a line break in a name', { headers: [['x-a\r\nx-b', 'c']] }],
    ['a length of its own', { headers: [['content-length', '0']], body: 'GET / HTTP/1.1' }],
    ['chunks', { headers: [['Transfer-Encoding', 'chunked']] }],
    ['an upgrade', { headers: [['upgrade', 'websocket']] }],
    ['a tunnel', { method: 'CONNECT' }],
    ['a method with spaces', { method: 'GET / HTTP/1.1\r\n' }],
    ['a host with a path', { headers: [['host', 'a/b']] }],
    ['too many fields', { headers: Array.from({ length: 65 }, () => ['a', 'b']) }],
    ['fields that are not pairs', { headers: { a: 'b' } }],
    ['a body that is not a text', { body: { a: 1 } }],
  ])('rejects %s', async (_, part) => {
    const before = seen.length
    expect((await post(JSON.stringify({ url: `${gateway.url}/smuggled`, ...part }))).status).toBe(400)
    expect(seen.length).toBe(before)
  })

  it('rejects bodies that are not JSON or too long', async () => {
    expect((await post('[')).status).toBe(400)
    const long = JSON.stringify({ url: gateway.url, body: 'x'.repeat(4 * 1024 * 1024) })
    expect((await post(long)).status).toBe(413)
  })

  it('returns no page and no cookie of a backend as its own', async () => {
    const answer = await post(JSON.stringify({ url: `${gateway.url}/page` }))
    expect(answer.text).not.toContain('<script>')
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment',
    })
    expect(answer.headers['set-cookie']).toBeUndefined()
  })
})
