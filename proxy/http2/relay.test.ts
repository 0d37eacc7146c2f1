// All pairs of versions: bodies streamed both ways, trailers, framing, cancellation, backpressure, and what is refused.
import { once } from 'node:events'
import http from 'node:http'
import type net from 'node:net'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import { answering, OK, portOf, RawClient, settled, startUpstream, until } from '../http/server.testing.ts'
import {
  answerOf,
  ask,
  connect,
  END_HEADERS,
  frame,
  FrameClient,
  FrameType,
  POST,
  type ProxyOptions,
  startHttp2Backend,
  startProxy,
} from './bind-server.testing.ts'
import { madeStream } from '../message/made-stream.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})
const keep = <T extends { close(): unknown }>(one: T): T => {
  open.push(one)
  return one
}

const H2 = { target: { httpVersion: 'HTTP2' } } satisfies ProxyOptions
const H1 = { target: { httpVersion: 'HTTP1' } } satisfies ProxyOptions

/** Sends back what it got, piece by piece, and reports what it received. */
function echo(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'x-seen': 'h2' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-end': 'done' }))
  stream.pipe(stream)
}

async function startHttp1Echo(): Promise<{ port: number; requests: http.IncomingMessage[]; close(): void }> {
  const requests: http.IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    requests.push(request)
    response.writeHead(200, { 'x-seen': 'h1' })
    request.pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    requests,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const LARGE = Buffer.alloc(3_000_000, 'abcdefghij')

describe('pairs of versions', () => {
  it.each(['HTTP1', 'HTTP2'] as const)('HTTP/2 client, %s backend', async (httpVersion) => {
    const backend = keep(httpVersion === 'HTTP1' ? await startHttp1Echo() : await startHttp2Backend(echo))
    const proxy = keep(await startProxy(backend.port, { target: { httpVersion } }))
    const session = keep(connect(proxy.port))
    const get = await ask(session, { ':path': '/a?b=c' })
    expect([get.headers[':status'], get.headers['x-seen'], get.body]).toEqual([
      200,
      httpVersion === 'HTTP1' ? 'h1' : 'h2',
      '',
    ])
    expect(proxy.handled[0]?.request).toMatchObject({ path: '/a', query: 'b=c', version: 'HTTP/2', method: 'GET' })
    const post = await ask(session, { ':path': '/', ':method': 'POST', 'content-length': LARGE.length }, LARGE)
    expect(post.body === LARGE.toString()).toBe(true)
    const chunked = await ask(session, { ':path': '/', ':method': 'POST' }, LARGE)
    expect(chunked.body === LARGE.toString()).toBe(true)
    if (httpVersion === 'HTTP2') expect(chunked.trailers).toMatchObject({ 'x-end': 'done' })
    await until(() => proxy.finished.length === 3)
    expect(proxy.finished.every(({ isComplete }) => isComplete)).toBe(true)
    expect(proxy.finished.map(({ exchange }) => exchange.responseBytes)).toEqual([0, LARGE.length, LARGE.length])
    await until(() => proxy.server.activeRequests === 0)
  })

  it('HTTP/1.1 client, HTTP/2 backend: keep-alive, chunked both ways', async () => {
    const backend = keep(await startHttp2Backend(echo))
    const proxy = keep(await startProxy(backend.port, H2))
    const client = await RawClient.connect(proxy.port)
    keep({ close: () => client.socket.destroy() })
    client.send('GET /x HTTP/1.1\r\nhost: a\r\n\r\n')
    await client.sees('0\r\n\r\n')
    client.text = ''
    client.send('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\nconnection: x-drop\r\nx-drop: 1\r\n\r\nhello')
    await client.sees('0\r\n\r\n')
    expect(client.text).toContain('5\r\nhello\r\n')
    client.text = ''
    client.send('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
    await client.sees('abc')
    client.send('2\r\nde\r\n0\r\n\r\n')
    await client.sees('0\r\n\r\n')
    expect(client.text).toContain('de')
    const [get, post] = backend.requests
    expect(get?.headers).toMatchObject({ ':path': '/x', ':authority': 'a', ':method': 'GET', ':scheme': 'http' })
    expect(post?.headers).toMatchObject({ 'content-length': '5' })
    expect(post?.headers['x-drop']).toBeUndefined()
    expect(proxy.client.openConnections).toBe(1)
  })

  it('trailers of the request reach an HTTP/2 backend', async () => {
    const seen: unknown[] = []
    const backend = keep(
      await startHttp2Backend((stream) => {
        stream.on('trailers', (trailers) => seen.push(trailers['x-sum']))
        stream.resume()
        stream.on('end', () => {
          stream.respond({ ':status': 204 })
          stream.end()
        })
      }),
    )
    const proxy = keep(await startProxy(backend.port, H2))
    const session = keep(connect(proxy.port))
    const answer = await ask(session, { ':method': 'POST', ':path': '/' }, 'body', { 'x-sum': '7' })
    expect([answer.headers[':status'], seen]).toEqual([204, ['7']])
  })

  it('trailers survive a filter that replaces the body', async () => {
    const backend = keep(await startHttp2Backend(echo))
    const proxy = keep(
      await startProxy(backend.port, {
        handle(exchange, respond) {
          const target = { key: 'k', host: '127.0.0.1', port: backend.port, unixPath: undefined, tls: undefined }
          proxy.client.forward(
            exchange,
            { ...target, httpVersion: 'HTTP2', connectTimeoutMs: 1000 },
            'a',
            (answered) => {
              const { response } = answered
              const { body } = response ?? {}
              if (response === undefined || typeof body !== 'object' || !('collect' in body)) throw new Error('no body')
              void body.collect(1000).then((whole) => {
                response.body = whole
                respond(answered)
              })
            },
          )
        },
      }),
    )
    const answer = await ask(keep(connect(proxy.port)), { ':method': 'POST', ':path': '/' }, 'hi')
    expect([answer.body, answer.trailers?.['x-end'], answer.headers['content-length']]).toEqual(['hi', 'done', '2'])
  })

  it('HTTP/1.1 and HTTP/2 clients share a port', async () => {
    const upstream = keep(await startUpstream(answering(OK)))
    const proxy = keep(await startProxy(upstream.port, H1))
    const client = await RawClient.connect(proxy.port)
    keep({ close: () => client.socket.destroy() })
    client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await client.sees('ok')
    const answer = await ask(keep(connect(proxy.port)), { ':path': '/' })
    expect(answer.body).toBe('ok')
    expect(proxy.server.openConnections).toBe(2)
    expect([...proxy.server.running()]).toEqual([])
  })
})

describe('version of the backend', () => {
  it.each([
    ['plaintext HTTP/2 client', {}, {}, 'h2'],
    ['gRPC', { 'content-type': 'application/grpc' }, {}, 'h2'],
    ['fixed to HTTP/1.1', { 'content-type': 'application/grpc' }, { httpVersion: 'HTTP1' }, 'h1'],
  ] as const)('%s', async (_name, headers, target, expected) => {
    const backend = keep(expected === 'h1' ? await startHttp1Echo() : await startHttp2Backend(echo))
    const proxy = keep(await startProxy(backend.port, { target }))
    const answer = await ask(keep(connect(proxy.port)), { ':path': '/', ...headers })
    expect(answer.headers['x-seen']).toBe(expected)
  })

  it('HTTP/1.1 client without more: HTTP/1.1; with gRPC: HTTP/2', async () => {
    const [one, two] = [keep(await startHttp1Echo()), keep(await startHttp2Backend(echo))]
    for (const [port, type, expected] of [
      [one.port, 'text/plain', 'h1'],
      [two.port, 'application/grpc', 'h2'],
    ] as const) {
      const proxy = keep(await startProxy(port))
      const client = await RawClient.connect(proxy.port)
      keep({ close: () => client.socket.destroy() })
      client.send(`GET / HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\n\r\n`)
      await client.sees('x-seen: ')
      expect(client.text).toContain(`x-seen: ${expected}`)
    }
  })
})

describe('responses', () => {
  const local = (response: HttpResponse): ProxyOptions => ({
    handle(exchange, respond) {
      exchange.response = response
      respond(exchange)
    },
  })
  const GET = { ':path': '/' }

  it('a body that is here: length and date', async () => {
    const proxy = keep(await startProxy(1, local(HttpResponse.local(200, 'hé'))))
    const answer = await ask(keep(connect(proxy.port)), GET)
    expect(answer).toMatchObject({ body: 'hé', headers: { 'content-length': '3' } })
    expect(Date.parse(answer.headers.date ?? '')).toBeGreaterThan(0)
  })

  it('HEAD: the length of a GET, no body', async () => {
    const proxy = keep(await startProxy(1, local(HttpResponse.local(200, 'hello'))))
    const answer = await ask(keep(connect(proxy.port)), { ...GET, ':method': 'HEAD' })
    expect(answer).toMatchObject({ body: '', headers: { 'content-length': '5', ':status': 200 } })
  })

  it.each([204, 205, 304])('%i has no body', async (status) => {
    const proxy = keep(await startProxy(1, local(HttpResponse.local(status, 'never'))))
    const answer = await ask(keep(connect(proxy.port)), GET)
    expect([answer.headers[':status'], answer.body]).toEqual([status, ''])
  })

  it('HEAD and 304 keep the length from the backend', async () => {
    const upstream = keep(await startUpstream(answering('HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n')))
    const proxy = keep(await startProxy(upstream.port, H1))
    const answer = await ask(keep(connect(proxy.port)), { ...GET, ':method': 'HEAD' })
    expect(answer.headers).toMatchObject({ 'content-length': '7' })
  })

  it('repeated fields stay apart; fields of one hop are dropped', async () => {
    const fields = 'set-cookie: a=1\r\nset-cookie: b=2\r\nkeep-alive: x\r\nconnection: x-hop\r\nx-hop: 1\r\n'
    const upstream = keep(await startUpstream(answering(`HTTP/1.1 200 OK\r\n${fields}content-length: 0\r\n\r\n`)))
    const proxy = keep(await startProxy(upstream.port, H1))
    const { headers } = await ask(keep(connect(proxy.port)), GET)
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect([headers['keep-alive'], headers['connection'], headers['x-hop']]).toEqual([undefined, undefined, undefined])
  })

  it('a header that is not fit for the wire: 503', async () => {
    const headers = HeaderList.of([['x-a', 'b\r\nc: d']])
    const proxy = keep(await startProxy(1, local(new HttpResponse(200, headers, 'x', false))))
    const answer = await ask(keep(connect(proxy.port)), GET)
    expect([answer.headers[':status'], answer.body]).toEqual([503, 'processing failed'])
  })

  it('an iterable is written as it comes, and stopped when the client leaves', async () => {
    let isStopped = false
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          yield Buffer.alloc(10_000, 'x')
          await new Promise((resolve) => {
            setImmediate(resolve)
          })
        }
      } finally {
        isStopped = true
      }
    }
    const proxy = keep(
      await startProxy(
        1,
        local(
          new HttpResponse(
            200,
            new HeaderList(),
            madeStream(endless(), () => {}),
            true,
          ),
        ),
      ),
    )
    const session = keep(connect(proxy.port))
    const stream = session.request(GET)
    stream.on('error', () => {})
    await once(stream, 'data')
    stream.close(constants.NGHTTP2_CANCEL)
    await until(() => isStopped && proxy.finished.length === 1)
    expect(proxy.finished[0]?.isComplete).toBe(false)
  })

  it.each(['content-length: 100', 'transfer-encoding: chunked'])(
    'a body that breaks (%s): reset, not ended',
    async (framing) => {
      const upstream = keep(
        await startUpstream((socket) => {
          socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n4\r\npart`)
          setImmediate(() => socket.destroy())
        }),
      )
      const proxy = keep(await startProxy(upstream.port, H1))
      const session = keep(connect(proxy.port))
      const answer = await ask(session, GET)
      expect(answer.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR)
      expect(session.closed).toBe(false)
      expect(proxy.finished[0]?.isComplete).toBe(false)
    },
  )

  it('CONNECT is the business of the handler', async () => {
    const handle: ProxyOptions['handle'] = (exchange, respond) => {
      exchange.fail('methodNotAllowed')
      respond(exchange)
    }
    const proxy = keep(await startProxy(1, { handle }))
    const session = keep(connect(proxy.port))
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'a:80' })
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
    expect(headers[':status']).toBe(405)
    expect(proxy.handled).toHaveLength(1)
    await until(() => proxy.finished.length === 1)
  })

  it('100-continue comes when the body is read', async () => {
    const backend = keep(await startHttp1Echo())
    const proxy = keep(await startProxy(backend.port, H1))
    const session = keep(connect(proxy.port))
    const stream = session.request({ ':method': 'POST', ':path': '/', expect: '100-continue' })
    await once(stream, 'continue')
    const answer = await answerOf(stream, 'later')
    expect(answer.body).toBe('later')
    expect(backend.requests[0]?.headers['expect']).toBeUndefined()
  })
})

describe('cancellation', () => {
  it('the client resets before the answer: the backend stream goes, the exchange ends', async () => {
    const backend = keep(await startHttp2Backend(() => {}))
    const proxy = keep(await startProxy(backend.port, H2))
    const session = keep(connect(proxy.port))
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => {})
    await until(() => backend.streams.length === 1)
    const { signal } = proxy.handled[0]?.connection ?? {}
    expect(signal?.aborted).toBe(false)
    stream.close(constants.NGHTTP2_CANCEL)
    await until(() => backend.streams[0]?.destroyed === true && proxy.finished.length === 1)
    expect([proxy.finished[0]?.isComplete, signal?.aborted, proxy.server.activeRequests]).toEqual([false, true, 0])
    expect(backend.streams[0]?.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })

  it('the client resets in the middle of its body: the HTTP/1.1 backend sees a cut, not an end', async () => {
    let socketOfRequest: net.Socket | undefined
    let isComplete: boolean | undefined
    const server = http.createServer((request) => {
      socketOfRequest = request.socket
      request.resume()
      request.on('close', () => {
        isComplete = request.complete
      })
      request.on('error', () => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    keep({ close: () => server.close() })
    const proxy = keep(await startProxy(portOf(server), H1))
    for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]) {
      isComplete = undefined
      const client = await FrameClient.connect(proxy.port)
      keep({ close: () => client.socket.destroy() })
      client.headers(1, POST, END_HEADERS).write(frame(FrameType.Data, 0, 1, 'half'))
      await until(() => socketOfRequest !== undefined)
      client.write(frame(FrameType.Reset, 0, 1, Buffer.from([0, 0, 0, code])))
      await until(() => isComplete !== undefined)
      expect(isComplete).toBe(false)
      socketOfRequest = undefined
    }
  })

  it('the client resets in the middle of its body: the HTTP/2 backend sees a reset, not an end', async () => {
    let hasEnded = false
    const backend = keep(
      await startHttp2Backend((stream) => {
        stream.on('end', () => {
          hasEnded = !stream.aborted && stream.rstCode === 0
        })
        stream.resume()
      }),
    )
    const proxy = keep(await startProxy(backend.port, H2))
    const client = await FrameClient.connect(proxy.port)
    keep({ close: () => client.socket.destroy() })
    client.headers(1, POST, END_HEADERS).write(frame(FrameType.Data, 0, 1, 'half'))
    await until(() => backend.streams.length === 1)
    client.write(frame(FrameType.Reset, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])))
    await until(() => backend.streams[0]?.destroyed === true)
    expect([hasEnded, backend.streams[0]?.rstCode]).toEqual([false, constants.NGHTTP2_CANCEL])
  })

  it('an answer before the end of the request stops the request', async () => {
    const backend = keep(
      await startHttp2Backend((stream) => {
        stream.respond({ ':status': 413 })
        stream.end('no')
      }),
    )
    const proxy = keep(await startProxy(backend.port, H2))
    const session = keep(connect(proxy.port))
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    stream.write('some')
    const answer = await answerOf(stream)
    expect([answer.headers[':status'], answer.body, answer.rstCode]).toEqual([413, 'no', constants.NGHTTP2_NO_ERROR])
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.isComplete).toBe(true)
  })
})

describe('backpressure', () => {
  it('a client that does not read stops the backend, in constant memory', async () => {
    let written = 0
    const backend = keep(
      await startHttp2Backend((stream) => {
        stream.respond({ ':status': 200 })
        const chunk = Buffer.alloc(65_536)
        const more = (): void => {
          while (!stream.destroyed && written < 500_000_000) {
            written += chunk.length
            if (!stream.write(chunk)) return
          }
        }
        stream.on('drain', more)
        more()
      }),
    )
    const proxy = keep(await startProxy(backend.port, H2))
    const session = keep(connect(proxy.port))
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => {})
    await once(stream, 'response')
    stream.pause()
    await settled(() => written)
    expect(written).toBeLessThan(2_000_000)
    expect((await ask(session, { ':path': '/', ':method': 'HEAD' })).headers[':status']).toBe(200)
    stream.resume()
    await until(() => written > 10_000_000, 'the flow to continue')
  })

  it('a backend that does not read stops the client', async () => {
    const backend = keep(await startHttp2Backend((stream) => stream.pause()))
    const proxy = keep(await startProxy(backend.port, H2))
    const session = keep(connect(proxy.port))
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    stream.on('error', () => {})
    let accepted = 0
    const chunk = Buffer.alloc(65_536)
    const more = (): void => {
      while (accepted < 500_000_000) {
        accepted += chunk.length
        if (!stream.write(chunk)) return
      }
    }
    stream.on('drain', more)
    more()
    await until(() => backend.streams.length === 1)
    await settled(() => accepted)
    expect(accepted).toBeLessThan(2_000_000)
    backend.streams[0]?.resume()
    await until(() => accepted > 10_000_000, 'the flow to continue')
  })
})
