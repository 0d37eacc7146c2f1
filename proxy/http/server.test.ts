// The server side over raw sockets: what is refused never reaches a backend, order, keep-alive, framing of responses,
// drain.
import { afterEach, describe, expect, it } from 'vitest'
import { FAILURES } from '../exchange/errors.ts'
import { DEFAULT_LIMITS } from './handler.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import {
  answering,
  OK,
  type Proxy,
  type ProxyOptions,
  startProxy,
  startUpstream,
  until,
  type Upstream,
} from './server.testing.ts'
import { madeStream } from '../message/made-stream.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(options: ProxyOptions = {}): Promise<{ proxy: Proxy; upstream: Upstream }> {
  const upstream = await startUpstream(answering(OK))
  const proxy = await startProxy(upstream.port, options)
  open.push(proxy, upstream)
  return { proxy, upstream }
}

const get = (extra = ''): string => `GET / HTTP/1.1\r\nhost: a\r\n${extra}\r\n`

const MALFORMED: readonly (readonly [string, string, number])[] = [
  [
    'content-length and transfer-encoding',
    `${get('content-length: 5\r\ntransfer-encoding: chunked\r\n')}0\r\n\r\n`,
    400,
  ],
  [
    'transfer-encoding and content-length',
    `${get('transfer-encoding: chunked\r\ncontent-length: 5\r\n')}0\r\n\r\n`,
    400,
  ],
  ['two types', get('content-type: text/plain\r\ncontent-type: application/json\r\ncontent-length: 2\r\n'), 400],
  ['two different lengths', get('content-length: 1\r\ncontent-length: 2\r\n'), 400],
  ['two equal lengths', get('content-length: 1\r\ncontent-length: 1\r\n'), 400],
  ['list of lengths', get('content-length: 1, 1\r\n'), 400],
  ['signed length', get('content-length: +1\r\n'), 400],
  ['hex length', get('content-length: 0x1\r\n'), 400],
  ['empty length', get('content-length: \r\n'), 400],
  ['huge length', get('content-length: 99999999999999999999\r\n'), 400],
  ['gzip coding', get('transfer-encoding: gzip, chunked\r\n'), 400],
  ['unknown coding', get('transfer-encoding: xchunked\r\n'), 400],
  ['two codings', get('transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n'), 400],
  ['coding with vertical tab', get('transfer-encoding: \vchunked\r\n'), 400],
  ['identity coding', get('transfer-encoding: identity\r\n'), 400],
  ['coding in 1.0', 'POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n', 400],
  ['bare LF as line end', 'GET / HTTP/1.1\nhost: a\n\n', 400],
  ['bare LF in a header', get('x: a\nb: c\r\n'), 400],
  ['bare CR in a header', get('x: a\rb\r\n'), 400],
  ['folded line', get('x: a\r\n b\r\n'), 400],
  ['folded first line', 'GET / HTTP/1.1\r\n host: a\r\n\r\n', 400],
  ['space before colon', get('x : a\r\n'), 400],
  ['space before colon of length', get('content-length : 3\r\n'), 400],
  ['empty name', get(': a\r\n'), 400],
  ['no colon', get('abc\r\n'), 400],
  ['name with a slash', get('a/b: c\r\n'), 400],
  ['name with high byte', get('\xe9: c\r\n'), 400],
  ['NUL in a value', get('x: a\0b\r\n'), 400],
  ['DEL in a value', get('x: a\x7fb\r\n'), 400],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['two hosts', get('host: a\r\n'), 400],
  ['empty host', 'GET / HTTP/1.1\r\nhost:\r\n\r\n', 400],
  ['host with a path', 'GET / HTTP/1.1\r\nhost: a/b\r\n\r\n', 400],
  ['host with userinfo', 'GET / HTTP/1.1\r\nhost: u@a\r\n\r\n', 400],
  ['invalid method', 'G(T / HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['empty method', ' / HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['two spaces', 'GET  / HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['space in the target', 'GET /a b HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['tab in the target', 'GET /a\tb HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['fragment', 'GET /a#b HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['high byte in the target', 'GET /\xe9 HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['relative target', 'GET a HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['asterisk without OPTIONS', 'GET * HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['other scheme', 'GET ftp://a/ HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['absolute form with userinfo', 'GET http://u@a/ HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['absolute form against Host', 'GET http://b/ HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['CONNECT without a port', 'CONNECT a HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['HTTP/0.9', 'GET /\r\n\r\n', 400],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\nhost: a\r\n\r\n', 400],
  ['HTTP/2.0', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['lower case version', 'GET / http/1.1\r\nhost: a\r\n\r\n', 400],
  ['TLS on a plain port', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n', 400],
  ['two empty lines first', `\r\n\r\n${get()}`, 400],
  ['other expectation', get('expect: 200-ok\r\n'), 417],
  ['too many fields', get('a: b\r\n'.repeat(101)), 431],
  ['too large a block', get(`x: ${'a'.repeat(70_000)}\r\n`), 431],
  ['too long a line', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 414],
  ['chunk size with junk', `${get('transfer-encoding: chunked\r\n')}1x\r\na\r\n0\r\n\r\n`, 400],
  ['chunk size 0x', `${get('transfer-encoding: chunked\r\n')}0x1\r\na\r\n0\r\n\r\n`, 400],
  ['chunk size too long', `${get('transfer-encoding: chunked\r\n')}000000001\r\na\r\n0\r\n\r\n`, 400],
  ['chunk longer than its size', `${get('transfer-encoding: chunked\r\n')}1\r\nabc\r\n0\r\n\r\n`, 400],
  ['bare LF in chunk framing', `${get('transfer-encoding: chunked\r\n')}1\na\r\n0\r\n\r\n`, 400],
  ['endless chunk extension', `${get('transfer-encoding: chunked\r\n')}1;${'a'.repeat(5000)}\r\na\r\n0\r\n\r\n`, 400],
  ['length in a trailer', `${get('transfer-encoding: chunked\r\n')}0\r\ncontent-length: 5\r\n\r\n`, 400],
  ['bad trailer', `${get('transfer-encoding: chunked\r\n')}0\r\na b: c\r\n\r\n`, 400],
]

describe('what is not HTTP', () => {
  it.each(MALFORMED)('%s: refused, closed, never forwarded', async (_name, bytes, status) => {
    const { proxy, upstream } = await start()
    const client = await proxy.connect()
    client.send(bytes + get())
    const text = await client.ends()
    expect(text.startsWith(`HTTP/1.1 ${status} `)).toBe(true)
    expect(text.toLowerCase()).toContain('connection: close')
    // One answer only: what followed the broken message was not read as a request.
    expect(text.split('HTTP/1.1 ').length).toBe(2)
    expect(upstream.received()).toBe('')
    expect(proxy.handled.length).toBe(0)
    expect(proxy.refused.map((each) => each.status)).toEqual([status])
  })

  it('a body of broken chunks after the request went on: the backend sees no end, the client a 400', async () => {
    const slow = await startUpstream(() => {})
    open.push(slow)
    const own = await startProxy(slow.port)
    open.push(own)
    const client = await own.connect()
    client.send(`${get('transfer-encoding: chunked\r\n')}3\r\nabc\r\n`)
    await until(() => slow.received().includes('transfer-encoding: chunked'))
    client.send('zz\r\n')
    expect(await client.ends()).toContain('HTTP/1.1 400 ')
    await until(() => slow.sockets[0]?.destroyed === true || slow.sockets[0]?.readableEnded === true)
    expect(slow.received()).not.toContain('0\r\n\r\n')
    expect(own.finished.length).toBe(1)
  })
})

describe('reading requests', () => {
  it('keeps the connection and reuses one upstream connection', async () => {
    const { proxy, upstream } = await start()
    const client = await proxy.connect()
    for (let i = 1; i <= 5; i++) {
      client.send(get())
      await until(() => client.text.split('\r\n\r\nok').length === i + 1)
    }
    expect(upstream.sockets.length).toBe(1)
    expect(proxy.client.idleConnections).toBe(1)
    expect(proxy.finished.every((each) => each.isComplete)).toBe(true)
  })

  it('answers pipelined requests in order, one at a time', async () => {
    const waiting: (() => void)[] = []
    const { proxy } = await start({
      handle(exchange, respond) {
        waiting.push(() => {
          exchange.response = HttpResponse.local(200, exchange.request.path)
          respond(exchange)
        })
      },
    })
    const client = await proxy.connect()
    client.send(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''))
    for (let i = 0; i < 3; i++) {
      await until(() => waiting.length === i + 1)
      expect(proxy.handled.length).toBe(i + 1)
      waiting[i]?.()
    }
    await client.sees('/3')
    expect([...client.text.matchAll(/\r\n\r\n(\/\d)/g)].map((match) => match[1])).toEqual(['/1', '/2', '/3'])
  })

  it('answers a thousand pipelined requests in one write', async () => {
    const { proxy } = await start({
      handle(exchange, respond) {
        exchange.response = HttpResponse.local(200, 'x')
        respond(exchange)
      },
    })
    const client = await proxy.connect()
    client.send(get().repeat(1000))
    await until(() => client.text.split('HTTP/1.1 200').length === 1001)
    expect(proxy.finished.length).toBe(1000)
  })

  it('passes host, path, query and drops hop-by-hop fields, host and everything named in Connection', async () => {
    const { proxy, upstream } = await start()
    const client = await proxy.connect()
    client.send(
      'GET /a%2Fb;..?q=1?2 HTTP/1.1\r\nHost: A.Example:80\r\n' +
        'Connection: keep-alive, X-Secret, te\r\nKeep-Alive: 1\r\n' +
        'X-Secret: 1\r\nTE: trailers, deflate\r\nTrailer: x\r\nProxy-Connection: x\r\nProxy-Authorization: kept\r\n' +
        'Upgrade: h2c\r\nX-Kept:   \t padded \t \r\n\r\n',
    )
    await client.sees('ok')
    const { request } = proxy.handled[0] ?? { request: undefined }
    expect(request?.host).toBe('a.example')
    expect(request?.path).toBe('/a%2Fb;..')
    expect(request?.query).toBe('q=1?2')
    expect(upstream.received()).toBe(
      'GET /a%2Fb;..?q=1?2 HTTP/1.1\r\nhost: a.example\r\n' +
        'proxy-authorization: kept\r\nx-kept: padded\r\nte: trailers\r\n\r\n',
    )
  })

  it('tidies the path up once, and refuses what it cannot', async () => {
    const { proxy, upstream } = await start()
    const client = await proxy.connect()
    client.send('GET /public/%2e./%61dmin?a=/../%61 HTTP/1.1\r\nhost: a\r\n\r\n')
    await client.sees('ok')
    expect(proxy.handled[0]?.request.pathAndQuery).toBe('/admin?a=/../%61')
    expect(upstream.received()).toMatch(/^GET \/admin\?a=\/\.\.\/%61 HTTP/)
    const other = await proxy.connect()
    other.send('GET /public/..%2fadmin HTTP/1.1\r\nhost: a\r\n\r\n')
    await other.sees('400 Bad Request')
    expect(proxy.handled.length).toBe(1)
  })

  it('takes the authority of the absolute form, and an empty path as /', async () => {
    const { proxy } = await start()
    const client = await proxy.connect()
    client.send('GET http://A?x HTTP/1.1\r\nhost: a\r\n\r\n')
    await client.sees('ok')
    expect(proxy.handled[0]?.request.host).toBe('a')
    expect(proxy.handled[0]?.request.pathAndQuery).toBe('/?x')
  })

  it('keeps the spelling of names when asked to, in both directions', async () => {
    const upstream = await startUpstream(answering('HTTP/1.1 200 OK\r\nX-Answer: 1\r\nContent-Length: 0\r\n\r\n'))
    const proxy = await startProxy(upstream.port, { limits: { preserveHeaderCase: true } })
    open.push(proxy, upstream)
    const client = await proxy.connect()
    client.send('GET / HTTP/1.1\r\nHOST: a\r\nX-Thing: 1\r\n\r\n')
    await client.sees('X-Answer: 1')
    expect(upstream.received()).toContain('HOST: a\r\nX-Thing: 1\r\n')
  })

  it('sends 100 Continue only when the body is read', async () => {
    const { proxy } = await start({
      handle(exchange, respond) {
        const { body, path } = exchange.request
        if (path === '/unread' || !(body instanceof IncomingBody)) {
          exchange.response = HttpResponse.local(403, 'no')
          respond(exchange)
          return
        }
        void body.collect(100).then((bytes) => {
          exchange.response = HttpResponse.local(200, `got ${bytes.toString()}`)
          respond(exchange)
        })
      },
    })
    const head = (path: string): string =>
      `POST ${path} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n`
    const reader = await proxy.connect()
    reader.send(head('/read'))
    await reader.sees('HTTP/1.1 100 Continue\r\n\r\n')
    reader.send('abc')
    await reader.sees('got abc')
    const other = await proxy.connect()
    other.send(head('/unread'))
    const text = await other.ends()
    expect(text).toContain('HTTP/1.1 403')
    expect(text).not.toContain('100 Continue')
    expect(text).toContain('connection: close')
  })

  it('ignores what comes after a request with connection: close', async () => {
    const { proxy, upstream } = await start()
    const client = await proxy.connect()
    client.send(get('connection: close\r\n') + get())
    const text = await client.ends()
    expect(text.split('HTTP/1.1 200').length).toBe(2)
    expect(upstream.received().split('GET').length).toBe(2)
  })

  it('takes the end of the client while a request runs for its leaving', async () => {
    const upstream = await startUpstream(() => {})
    const proxy = await startProxy(upstream.port)
    open.push(proxy, upstream)
    const client = await proxy.connect()
    client.send(get())
    await until(() => upstream.received() !== '')
    client.socket.end()
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.isComplete).toBe(false)
    await until(() => upstream.sockets[0]?.readableEnded === true)
    expect(proxy.server.openConnections).toBe(0)
    expect(proxy.server.activeRequests).toBe(0)
  })
})

describe('writing responses', () => {
  const respondWith =
    (response: HttpResponse): NonNullable<ProxyOptions['handle']> =>
    (exchange, respond) => {
      exchange.response = response
      respond(exchange)
    }

  it('speaks HTTP/1.0 to 1.0 clients: no chunks, close unless asked to keep', async () => {
    async function* body(): AsyncGenerator<Buffer> {
      yield Buffer.from('abc')
      yield Buffer.from('def')
      await Promise.resolve()
    }
    const { proxy } = await start({
      handle(exchange, respond) {
        const isStream = exchange.request.path === '/stream'
        exchange.response = isStream
          ? new HttpResponse(
              200,
              new HeaderList(),
              madeStream(body(), () => {}),
              true,
            )
          : HttpResponse.local(200, 'whole')
        respond(exchange)
      },
    })
    const stream = await proxy.connect()
    stream.send('GET /stream HTTP/1.0\r\nconnection: keep-alive\r\n\r\n')
    const text = await stream.ends()
    expect(text).toContain('\r\n\r\nabcdef')
    expect(text).toContain('connection: close')
    expect(text).not.toContain('chunked')
    const kept = await proxy.connect()
    kept.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n')
    await kept.sees('whole')
    expect(kept.text).toContain('connection: keep-alive')
    kept.send('GET / HTTP/1.0\r\n\r\n')
    expect((await kept.ends()).split('HTTP/1.1 200').length).toBe(3)
  })

  it.each([
    ['HEAD', 200, 'content-length: 5\r\n'],
    ['GET', 204, ''],
    ['GET', 304, ''],
  ])('%s with %i has no body', async (method, status, length) => {
    const { proxy } = await start({ handle: respondWith(new HttpResponse(status, new HeaderList(), 'hello', true)) })
    const client = await proxy.connect()
    client.send(`${method} / HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(2))
    await until(() => client.text.split(`HTTP/1.1 ${status}`).length === 3)
    expect(client.text).not.toContain('hello')
    expect(client.text.split('\r\n\r\n').length).toBe(3)
    expect(client.text.includes('content-length')).toBe(length !== '')
    expect(client.text).toContain(length)
  })

  it('adds a date, no server header, and never what a filter says about framing', async () => {
    const headers = HeaderList.of([
      ['content-length', '999'],
      ['transfer-encoding', 'chunked'],
      ['connection', 'x'],
      ['x', 'y'],
    ])
    const { proxy } = await start({ handle: respondWith(new HttpResponse(200, headers, 'é', true)) })
    const client = await proxy.connect()
    client.send(get())
    await until(() => client.text.includes('\r\n\r\nÃ©'))
    expect(client.text).toMatch(
      /^HTTP\/1.1 200 OK\r\nx: y\r\ndate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\ncontent-length: 2\r\n\r\n/,
    )
    expect(proxy.finished[0]?.exchange.responseBytes).toBe(2)
  })

  it.each([
    ['CRLF in a value', ['x', 'a\r\nset-cookie: b']],
    ['a character that latin1 writing turns into LF', ['x', 'a\u010ab']],
    ['an invalid name', ['x\r\ny', 'a']],
  ])('%s becomes a 503, not a split response', async (_name, [name = '', value = '']) => {
    const { proxy } = await start({
      handle: respondWith(new HttpResponse(200, new HeaderList([name, value]), 'x', false)),
    })
    const client = await proxy.connect()
    client.send(get())
    await client.sees(FAILURES.internal.text)
    expect(client.text).toContain('HTTP/1.1 503')
    expect(client.text).not.toContain('set-cookie')
  })

  it('sends a large buffer whole to a reader that pauses', async () => {
    const bytes = Buffer.alloc(64 * 1024 * 1024, 'abcdefg')
    const { proxy } = await start({ handle: respondWith(new HttpResponse(200, new HeaderList(), bytes, true)) })
    const client = await proxy.connect()
    client.socket.pause()
    client.send(get())
    await until(() => proxy.server.bufferedBytes > 0)
    expect(proxy.server.bufferedBytes).toBeLessThan(300_000)
    client.socket.resume()
    await client.sees('\r\n\r\n')
    const headBytes = client.text.indexOf('\r\n\r\n') + 4
    await until(() => client.bytes === headBytes + bytes.length)
    await until(() => proxy.finished.length === 1)
  })

  it('cuts a stream that fails or breaks its promise of length', async () => {
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.from('abc')
      await Promise.resolve()
      throw new Error('source broke')
    }
    const { proxy } = await start({
      handle: respondWith(
        new HttpResponse(
          200,
          new HeaderList(),
          madeStream(failing(), () => {}),
          true,
        ),
      ),
    })
    const client = await proxy.connect()
    client.send(get())
    const text = await client.ends()
    expect(text).toContain('3\r\nabc\r\n')
    expect(text).not.toContain('0\r\n\r\n')
    expect(proxy.finished[0]?.isComplete).toBe(false)
  })

  it('ends a generator when the client leaves', async () => {
    let isStopped = false
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          yield Buffer.alloc(1000, 'x')
          await new Promise((resolve) => {
            setImmediate(resolve)
          })
        }
      } finally {
        isStopped = true
      }
    }
    const { proxy } = await start({
      handle: respondWith(
        new HttpResponse(
          200,
          new HeaderList(),
          madeStream(endless(), () => {}),
          true,
        ),
      ),
    })
    const client = await proxy.connect()
    client.send(get())
    await client.sees('xxx')
    client.socket.destroy()
    await until(() => isStopped)
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.isComplete).toBe(false)
  })

  it('aborts the signal when the client leaves, and finishes once after the late answer', async () => {
    let signal: AbortSignal | undefined
    let late: (() => void) | undefined
    const { proxy } = await start({
      handle(exchange, respond) {
        signal = exchange.connection.signal
        late = () => {
          exchange.response = HttpResponse.local(200, 'late')
          respond(exchange)
        }
      },
    })
    const client = await proxy.connect()
    client.send(get())
    await until(() => signal !== undefined)
    client.socket.destroy()
    await until(() => signal?.aborted === true)
    expect(proxy.finished.length).toBe(0)
    late?.()
    late?.()
    expect(proxy.finished.map((each) => each.isComplete)).toEqual([false])
  })
})

describe('time and shutdown', () => {
  it('answers 408 to a head that never ends, closes idle connections silently', async () => {
    const { proxy } = await start({ limits: { idleTimeoutMs: 100 } })
    const slow = await proxy.connect()
    slow.send('GET / HTTP/1.1\r\nho')
    const idle = await proxy.connect()
    expect(await slow.ends()).toContain('HTTP/1.1 408 ')
    expect(await idle.ends()).toBe('')
  })

  it.each([
    ['of a length', 'content-length: 100000\r\n\r\nabc'],
    ['in chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['that never began', 'content-length: 100000\r\n\r\n'],
  ])('answers 408 to a body %s of which nothing more comes, and leaves the backend', async (_name, text) => {
    const upstream = await startUpstream(() => {})
    const proxy = await startProxy(upstream.port, { limits: { bodyIdleTimeoutMs: 100 } })
    open.push(proxy, upstream)
    const client = await proxy.connect()
    const answer = await client.send(`POST / HTTP/1.1\r\nhost: a\r\n${text}`).ends()
    expect(answer).toMatch(
      /^HTTP\/1.1 408 [\s\S]*connection: close\r\n[\s\S]*the rest of the request body did not arrive in time$/,
    )
    await until(() => proxy.client.openConnections === 0)
    expect(proxy.finished.map(({ exchange, isComplete }) => [exchange.failure, isComplete])).toEqual([
      ['requestTimeoutRead', true],
    ])
  })

  it('answers 408 to a body that a policy waits for, whatever the policy makes of its loss', async () => {
    const { proxy } = await start({
      limits: { bodyIdleTimeoutMs: 100 },
      handle(exchange, respond) {
        const { body } = exchange.request
        if (!(body instanceof IncomingBody)) throw new Error('no body')
        body.collect(1000).catch(() => {
          exchange.fail('invalidRequest')
          respond(exchange)
        })
      },
    })
    const client = await proxy.connect()
    expect(await client.send(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc`).ends()).toContain(
      'HTTP/1.1 408 ',
    )
  })

  it('has more patience with a body whose response has begun', async () => {
    const upstream = await startUpstream((socket, text) => {
      if (text.endsWith('abc\r\n')) socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n')
      if (text.endsWith('0\r\n\r\n')) socket.write('0\r\n\r\n')
    })
    const proxy = await startProxy(upstream.port, { limits: { bodyIdleTimeoutMs: 100 } })
    open.push(proxy, upstream)
    const impatient = await proxy.connect()
    const client = await proxy.connect()
    client.send('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
    await client.sees('a\r\n')
    // Began later, and is over.
    expect(await impatient.send('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n').ends()).toContain(' 408 ')
    await client.send('0\r\n\r\n').sees('0\r\n\r\n')
  })

  it('drains: idle connections go, running ones are answered with close', async () => {
    let finish: (() => void) | undefined
    const { proxy } = await start({
      handle(exchange, respond) {
        finish = () => {
          exchange.response = HttpResponse.local(200, 'done')
          respond(exchange)
        }
      },
    })
    const idle = await proxy.connect()
    const busy = await proxy.connect()
    busy.send(get())
    await until(() => finish !== undefined && proxy.server.openConnections === 2)
    proxy.server.drain()
    expect(await idle.ends()).toBe('')
    expect(busy.isEnded).toBe(false)
    finish?.()
    const text = await busy.ends()
    expect(text).toContain('done')
    expect(text).toContain('connection: close')
  })

  it('drains: a connection that has just come is served its request, and then ends', async () => {
    const { proxy } = await start()
    const young = await proxy.connect()
    await until(() => proxy.server.openConnections === 1)
    proxy.server.drain()
    young.send(get())
    expect(await young.ends()).toContain('connection: close')
  })

  it('a connection that is older than allowed ends with its next response, and is not cut', async () => {
    const { proxy } = await start({ limits: { maxConnectionDurationMs: 1 } })
    const client = await proxy.connect()
    const pooled = await proxy.connect()
    // The sweep looks once a second. Both are past their time when the first one ends.
    await until(() => {
      client.send(get())
      return client.isEnded
    })
    expect(pooled.isEnded).toBe(false)
    const last = client.text.split('HTTP/1.1 200 OK')
    expect(last.slice(0, -1).join('')).not.toContain('connection: close')
    expect(await pooled.send(get()).ends()).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*connection: close\r\n[\s\S]*ok$/)
  })

  it('a new handler serves the next request of an existing connection', async () => {
    const { proxy } = await start()
    const client = await proxy.connect()
    client.send(get())
    await client.sees('ok')
    proxy.server.setHandler({
      limits: DEFAULT_LIMITS,
      handle(exchange, respond) {
        exchange.response = HttpResponse.local(200, 'second handler')
        respond(exchange)
      },
      finished() {},
      transferred() {},
      refused() {},
    })
    client.send(get())
    await client.sees('second handler')
    expect(proxy.handled.length).toBe(1)
  })
})
