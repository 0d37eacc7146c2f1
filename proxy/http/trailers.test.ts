// Trailers in all pairs of HTTP/1.1 and HTTP/2, through both engines; raw sockets where HTTP/1.1 is spoken.
import type { IncomingHttpHeaders } from 'node:http2'
import type { Exchange } from '../exchange/exchange.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, connect, startHttp2Backend, startProxy, type ProxyOptions } from '../http2/bind-server.testing.ts'
import { RawClient, startUpstream, until } from './server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const TRAILERS =
  'x-sum: abc\r\nAuthorization: no\r\nX-Forwarded-For: 1.2.3.4\r\nserver-timing: a\r\nserver-timing: b\r\n'
const EXPECTED = { 'x-sum': 'abc', 'server-timing': 'a, b' }
const LAST_CHUNK = /\r\n0\r\n(?:.+\r\n)*\r\n$/
const CHUNKED = 'transfer-encoding: chunked\r\n'
const RESPONSE = `HTTP/1.1 200 OK\r\n${CHUNKED}`

interface Sides {
  readonly port: number
  /** What the backend got behind the body. */
  readonly seen: () => unknown
}

/** An HTTP/1.1 backend that answers when the whole request is there. */
async function http1(response: string, options: ProxyOptions = {}): Promise<Sides> {
  const texts: string[] = []
  const backend = await startUpstream((socket, text, at) => {
    texts[at] = text
    const hasLength = text.includes('content-length: 4')
    const isWhole = text.startsWith('GET') ? text.endsWith('\r\n\r\n') : hasLength || LAST_CHUNK.test(text)
    if (isWhole) socket.write(response, 'latin1')
  })
  const proxy = await startProxy(backend.port, options)
  open.push(proxy, backend)
  return { port: proxy.port, seen: () => texts.join('') }
}

async function http2(options: ProxyOptions = {}): Promise<Sides> {
  const seen: IncomingHttpHeaders[] = []
  const backend = await startHttp2Backend((stream) => {
    stream.on('trailers', (trailers) => seen.push(trailers))
    stream.resume()
    stream.once('end', () => {
      stream.respond({ ':status': 200, trailer: 'X-Sum' }, { waitForTrailers: true })
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'x-sum': 'abc', 'server-timing': ['a', 'b'], authorization: 'no' }),
      )
      stream.end('body')
    })
  })
  const proxy = await startProxy(backend.port, { ...options, target: { httpVersion: 'HTTP2' } })
  open.push(proxy, backend)
  return { port: proxy.port, seen: () => seen }
}

async function asks(port: number, request: string, until = '\r\n0\r\n'): Promise<string> {
  const client = await RawClient.connect(port)
  open.push({ close: () => client.socket.destroy() })
  await client.send(request).sees(until)
  return settledText(client)
}

/** The last chunk and what follows it come in one write. */
async function settledText(client: RawClient): Promise<string> {
  await until(() => LAST_CHUNK.test(client.text) || /content-length/.test(client.text))
  return client.text
}

/** A filter that replaces the body of the response. */
async function bracketed(exchange: Exchange): Promise<Exchange> {
  const body = exchange.response?.body
  if (exchange.response !== undefined && typeof body === 'object' && 'collect' in body)
    exchange.response.body = Buffer.from(`<${String(await body.collect(100))}>`)
  return exchange
}

const GET = (fields = ''): string => `GET / HTTP/1.1\r\nhost: a\r\n${fields}\r\n`
const POST = (fields = ''): string =>
  `POST / HTTP/1.1\r\nhost: a\r\n${fields}${CHUNKED}\r\n4\r\nbody\r\n0\r\n${TRAILERS}\r\n`

describe('response trailers', () => {
  it.each([
    ['small', '4\r\nbody\r\n'],
    ['empty', ''],
    ['large', `${(20_000).toString(16)}\r\n${'x'.repeat(20_000)}\r\n`],
  ])('HTTP/1.1 to HTTP/1.1, %s body: to a client that takes them', async (_name, chunks) => {
    const { port } = await http1(`${RESPONSE}\r\n${chunks}0\r\n${TRAILERS}\r\n`)
    const text = await asks(port, GET('te: trailers\r\n'))
    expect(text).toContain(`\r\n0\r\nx-sum: abc\r\nserver-timing: a\r\nserver-timing: b\r\n\r\n`)
    expect(text).toContain(chunks)
  })

  it('not to a client that did not ask for them', async () => {
    const { port } = await http1(`${RESPONSE}\r\n4\r\nbody\r\n0\r\n${TRAILERS}\r\n`)
    const client = await RawClient.connect(port)
    open.push({ close: () => client.socket.destroy() })
    await client.send(GET()).sees('body')
    // All of the first response is there when the second one comes.
    client.send(GET())
    await until(() => client.text.split('HTTP/1.1 200').length === 3, 'the second response')
    expect(client.text).not.toContain('x-sum')
  })

  it('announced ones go to every client, and are announced again', async () => {
    const { port } = await http1(`${RESPONSE}Trailer: X-Sum, Content-Type\r\n\r\n4\r\nbody\r\n0\r\n${TRAILERS}\r\n`)
    const text = await asks(port, GET())
    expect(text).toContain('\r\ntrailer: x-sum\r\n')
    expect(text).toContain('\r\n0\r\nx-sum: abc\r\n')
  })

  it('not to HTTP/1.0', async () => {
    const { port } = await http1(`${RESPONSE}Trailer: x-sum\r\n\r\n4\r\nbody\r\n0\r\n${TRAILERS}\r\n`)
    const client = await RawClient.connect(port)
    client.send('GET / HTTP/1.0\r\nhost: a\r\nte: trailers\r\n\r\n')
    expect((await client.ends()).split('\r\n\r\n')[1]).toBe('body')
  })

  it('HTTP/1.1 to HTTP/2', async () => {
    const { port } = await http1(`${RESPONSE}\r\n4\r\nbody\r\n0\r\n${TRAILERS}\r\n`, {
      target: { httpVersion: 'HTTP1' },
    })
    const session = connect(port)
    open.push(session)
    const answer = await ask(session, { ':path': '/' })
    expect([answer.body, Object.entries(answer.trailers ?? {})]).toEqual(['body', Object.entries(EXPECTED)])
  })

  it('HTTP/2 to HTTP/1.1', async () => {
    const { port } = await http2()
    const text = await asks(port, GET('te: trailers\r\n'))
    expect(text).toContain('\r\ntrailer: x-sum\r\n')
    expect(text).toMatch(/\r\n4\r\nbody\r\n0\r\nx-sum: abc\r\nserver-timing: a\r\nserver-timing: b\r\n\r\n$/)
  })

  it('HTTP/2 to HTTP/2', async () => {
    const { port } = await http2()
    const session = connect(port)
    open.push(session)
    const answer = await ask(session, { ':path': '/' })
    expect([answer.body, Object.entries(answer.trailers ?? {})]).toEqual(['body', Object.entries(EXPECTED)])
  })

  it('survive a filter that reads the whole body', async () => {
    const { port } = await http1(`${RESPONSE}\r\n4\r\nbody\r\n0\r\n${TRAILERS}\r\n`, {
      handle(exchange, respond, proxy) {
        proxy.client.forward(exchange, proxy.target, 'a', (answered) => void bracketed(answered).then(respond))
      },
    })
    const text = await asks(port, GET('te: trailers\r\n'))
    expect(text).toMatch(/\r\n6\r\n<body>\r\n0\r\nx-sum: abc\r\n/)
  })
})

describe('request trailers', () => {
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

  it('HTTP/1.1 to HTTP/1.1', async () => {
    const { port, seen } = await http1(OK)
    await asks(port, POST('Trailer: X-Sum\r\n'), 'ok')
    expect(seen()).toContain('\r\ntrailer: x-sum\r\n')
    expect(seen()).toMatch(/\r\n4\r\nbody\r\n0\r\nx-sum: abc\r\nserver-timing: a\r\nserver-timing: b\r\n\r\n$/)
  })

  it('HTTP/1.1 to HTTP/2', async () => {
    const { port, seen } = await http2()
    await asks(port, POST(), 'body')
    expect(seen()).toMatchObject([{ 'x-sum': 'abc', 'server-timing': 'a, b' }])
    expect(JSON.stringify(seen())).not.toMatch(/authorization|forwarded/)
  })

  it.each([
    ['HTTP/2', http2],
    ['HTTP/1.1', () => http1(OK, { target: { httpVersion: 'HTTP1' } })],
  ])('HTTP/2 to %s', async (_name, start) => {
    const { port, seen } = await start()
    const session = connect(port)
    open.push(session)
    const trailers = { 'x-sum': 'abc', cookie: 'a=1' }
    expect(
      (await ask(session, { ':method': 'POST', ':path': '/', trailer: 'x-sum' }, 'body', trailers)).headers[':status'],
    ).toBe(200)
    if (_name === 'HTTP/2') expect(JSON.stringify(seen())).toBe('[{"x-sum":"abc"}]')
    else expect(seen()).toMatch(/\r\ntrailer: x-sum\r\n[^]*\r\n4\r\nbody\r\n0\r\nx-sum: abc\r\n\r\n$/)
  })

  it('are bounded', async () => {
    const { port } = await http1(OK)
    for (const trailers of [
      'a: b\r\n'.repeat(33),
      `a: ${'b'.repeat(8193)}\r\n`,
      ' a: b\r\n',
      'transfer-encoding: chunked\r\n',
    ]) {
      const client = await RawClient.connect(port)
      client.send(`POST / HTTP/1.1\r\nhost: a\r\n${CHUNKED}\r\n0\r\n${trailers}\r\n`)
      expect((await client.ends()).slice(0, 12)).toBe('HTTP/1.1 400')
    }
  })

  it('a body with a length has none', async () => {
    const { port, seen } = await http1(OK)
    const client = await RawClient.connect(port)
    open.push({ close: () => client.socket.destroy() })
    await client.send('POST / HTTP/1.1\r\nhost: a\r\ntrailer: x-sum\r\ncontent-length: 4\r\n\r\nbody').sees('ok')
    expect(seen()).not.toContain('trailer')
  })
})
