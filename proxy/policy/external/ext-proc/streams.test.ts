// Trailers, calls that send in both directions, slow readers, and clients that disconnect: over HTTP/2 and HTTP/1.
import { once } from 'node:events'
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExtProcOptions } from '#api/ir/types.gen.ts'
import { POLICY, PROCESSOR } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { settled, until } from '../../../http/server.testing.ts'
import { startHttp2Backend, type Http2Backend } from '../../../http2/bind-server.testing.ts'
import {
  empty,
  headersOf,
  mutation,
  partsOf,
  passing,
  piece,
  scripted,
  startProcessor,
  type Processor,
  type Reply,
} from './processor.testing.ts'

const GRPC = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }

let processor: Processor
let backend: Http2Backend
let proxy: TestProxy
let client: ClientHttp2Session
/** The behavior of the backend for a stream. */
let serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

beforeAll(async () => {
  processor = await startProcessor()
  backend = await startHttp2Backend((stream, headers) => serve(stream, headers))
  const route = (name: string, processingOptions: ExtProcOptions): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend: { static: { host: '127.0.0.1', port: backend.port }, inlinePolicies: { http: { version: 'HTTP2' } } },
    inline: { extProc: { ...POLICY, processingOptions } },
  })
  proxy = await testProxy({
    routes: [
      route('all', {}),
      route('none', { requestBodyMode: 'None', responseBodyMode: 'None' }),
      route('buffered', { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' }),
      route('skipped', {
        requestBodyMode: 'None',
        responseBodyMode: 'None',
        requestTrailerMode: 'Skip',
        responseTrailerMode: 'Skip',
      }),
    ],
    change: (config) => ({
      ...config,
      backends: [
        ...config.backends,
        {
          key: PROCESSOR,
          name: { namespace: 'ns', name: 'processor' },
          static: { host: '127.0.0.1', port: processor.port },
        },
      ],
    }),
  })
  client = http2.connect(proxy.url)
  await once(client, 'connect')
})
afterAll(async () => {
  client.destroy()
  await proxy.stop()
  processor.stop()
  await backend.close()
})

const noStreams = (): Promise<void> => until(() => processor.open === 0, 'the end of all streams')

/** Returns `echo:` and the body, with trailers; records the trailers of the request. */
function echoing(seen: { trailers?: IncomingHttpHeaders; body?: string }) {
  return (stream: ServerHttp2Stream): void => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('trailers', (trailers: IncomingHttpHeaders) => {
      seen.trailers = trailers
    })
    stream.on('end', () => {
      seen.body = Buffer.concat(chunks).toString()
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-t': 'backend' }))
      stream.end(`echo:${seen.body}`)
    })
  }
}

interface Got {
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly body: string
}

async function call(path: string, body: string, trailers?: Record<string, string>): Promise<Got> {
  const stream = client.request({ ...GRPC, ':path': path }, { waitForTrailers: trailers !== undefined })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}))
  const got: { headers: IncomingHttpHeaders; trailers: IncomingHttpHeaders } = { headers: {}, trailers: {} }
  stream.on('response', (headers) => {
    got.headers = headers
  })
  stream.on('trailers', (fields) => {
    got.trailers = fields
  })
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.end(body)
  await once(stream, 'close')
  return { ...got, body: Buffer.concat(chunks).toString() }
}

describe('trailers', () => {
  const changed: Partial<Record<string, Reply>> = {
    requestTrailers: {
      response: { case: 'requestTrailers', value: { headerMutation: mutation({ 'x-new': 'r' }, ['x-gone']) } },
    },
    responseTrailers: {
      response: { case: 'responseTrailers', value: { headerMutation: mutation({ 'grpc-status': '9' }, ['x-t']) } },
    },
  }

  it.each(['none', 'buffered', 'all'])('of both sides are sent and changed (%s)', async (route) => {
    const seen: { trailers?: IncomingHttpHeaders; body?: string } = {}
    serve = echoing(seen)
    processor.reset(scripted(changed, route === 'all' ? passing : empty))
    const got = await call(`/${route}`, 'body', { 'x-gone': 'g', 'x-kept': 'k' })
    expect(got).toMatchObject({ headers: { ':status': 200 }, body: 'echo:body', trailers: { 'grpc-status': '9' } })
    expect(got.trailers['x-t']).toBeUndefined()
    expect(seen).toMatchObject({ body: 'body', trailers: { 'x-new': 'r', 'x-kept': 'k' } })
    expect(seen.trailers?.['x-gone']).toBeUndefined()
    const parts = partsOf(processor.seen)
    expect(parts.filter((part) => part.endsWith('Trailers'))).toEqual(['requestTrailers', 'responseTrailers'])
    // The end of a stream is marked once: by its trailers.
    expect(parts.filter((part) => part.endsWith('+'))).toEqual([])
    expect(headersOf(processor.seen.at(-1))).toMatchObject({ 'grpc-status': '0', 'x-t': 'backend' })
    await noStreams()
  })

  it('that are skipped are not sent', async () => {
    const seen: { trailers?: IncomingHttpHeaders } = {}
    serve = echoing(seen)
    processor.reset(passing)
    const got = await call('/skipped', 'body', { 'x-kept': 'k' })
    expect(got).toMatchObject({ body: 'echo:body', trailers: { 'grpc-status': '0', 'x-t': 'backend' } })
    expect(seen.trailers).toMatchObject({ 'x-kept': 'k' })
    expect(partsOf(processor.seen)).toEqual(['requestHeaders', 'responseHeaders'])
  })

  it('of a processor that fails at the end truncate the response', async () => {
    serve = echoing({})
    processor.reset((request, talk) => {
      if (request.request.case === 'responseTrailers') talk.reply({})
      else passing(request, talk)
    })
    const stream = client.request({ ...GRPC, ':path': '/none' })
    stream.on('error', () => undefined)
    stream.resume().end('x')
    await until(() => stream.closed, 'the end')
    expect(stream.rstCode).not.toBe(0)
    await noStreams()
  })

  it('without a body are a response of headers only', async () => {
    serve = (stream) => stream.respond({ ':status': 200, 'grpc-status': '5' }, { endStream: true })
    processor.reset(passing)
    expect(await call('/all', 'x')).toMatchObject({ headers: { 'grpc-status': '5' }, body: '' })
    expect(partsOf(processor.seen).at(-1)).toBe('responseHeaders+')
  })
})

describe('both ways at once', () => {
  it('a call may wait for responses before it continues', async () => {
    serve = (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.on('data', (chunk: Buffer) => stream.write(`<${chunk.toString()}>`))
      stream.on('end', () => stream.end())
    }
    processor.reset(passing)
    const stream = client.request({ ...GRPC, ':path': '/all' })
    let text = ''
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    for (const word of ['one', 'two', 'three']) {
      stream.write(word)
      await until(() => text.includes(`<${word}>`), word)
    }
    stream.end()
    await once(stream, 'close')
    expect(text).toBe('<one><two><three>')
    await noStreams()
  })

  it('an echo much larger than all buffers is forwarded', async () => {
    serve = (stream) => {
      stream.respond({ ':status': 200 })
      stream.pipe(stream)
    }
    processor.reset(passing)
    const stream = client.request({ ...GRPC, ':path': '/all' })
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    const total = 3 * 1024 * 1024
    const chunk = Buffer.alloc(65_536, 1)
    for (let sent = 0; sent < total; sent += chunk.length) {
      if (!stream.write(chunk)) await once(stream, 'drain')
    }
    stream.end()
    await once(stream, 'close')
    expect([bytes, stream.rstCode]).toEqual([total, 0])
    await noStreams()
  })
})

describe('slow readers', () => {
  it('of a response pause its backend', async () => {
    let sent = 0
    serve = (stream) => {
      stream.respond({ ':status': 200 })
      const fill = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(65_536))) sent += 65_536
      }
      stream.on('drain', fill)
      fill()
    }
    processor.reset(passing)
    const socket = connect(proxy.port, '127.0.0.1')
    socket.write('GET /all HTTP/1.1\r\nhost: a\r\n\r\n')
    socket.pause()
    await settled(() => sent)
    // Windows and buffers of four connections, and no more.
    expect(sent).toBeLessThan(16 * 1024 * 1024)
    socket.destroy()
    await noStreams()
  })

  it('of a request pause its client', async () => {
    let held: ServerHttp2Stream | undefined
    serve = (stream) => {
      held = stream
      stream.pause()
    }
    processor.reset(passing)
    let sent = 0
    const stream = client.request({ ...GRPC, ':path': '/all' })
    stream.on('error', () => undefined)
    const fill = (): void => {
      while (!stream.destroyed && stream.write(Buffer.alloc(65_536))) sent += 65_536
    }
    stream.on('drain', fill)
    fill()
    await settled(() => sent)
    expect(held).toBeDefined()
    expect(sent).toBeLessThan(16 * 1024 * 1024)
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await noStreams()
  })

  it('do not let a processor fill the memory', async () => {
    let answered = 0
    serve = (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('x')
    }
    processor.reset((request, talk) => {
      const { case: kind } = request.request
      if (kind !== 'responseBody') {
        passing(request, talk)
        return
      }
      const more = (): void => {
        while (!talk.call.destroyed && answered < 256 * 1024 * 1024) {
          answered += 65_536
          talk.reply(piece('responseBody', Buffer.alloc(65_536), false))
          if (talk.call.writableNeedDrain) {
            talk.call.once('drain', more)
            return
          }
        }
      }
      more()
    })
    const socket = connect(proxy.port, '127.0.0.1')
    socket.write('GET /all HTTP/1.1\r\nhost: a\r\n\r\n')
    socket.pause()
    await settled(() => answered)
    expect(answered).toBeLessThan(32 * 1024 * 1024)
    socket.destroy()
    await noStreams()
  })
})

describe('clients that disconnect', () => {
  const silent = (): undefined => undefined

  it.each(['none', 'buffered', 'all'])('before the processor has responded (%s)', async (route) => {
    processor.reset(silent)
    const stream = client.request({ ...GRPC, ':path': `/${route}` })
    stream.on('error', () => undefined)
    stream.write('x')
    await until(() => processor.open === 1, 'a stream')
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await expect(noStreams()).resolves.toBeUndefined()
  })

  it.each(['none', 'buffered', 'all'])('before the backend has responded (%s)', async (route) => {
    let streams = 0
    serve = (stream) => {
      streams++
      stream.resume()
    }
    processor.reset(route === 'buffered' ? empty : passing)
    const socket = connect(proxy.port, '127.0.0.1')
    socket.write(`POST /${route} HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx`)
    await until(() => streams === 1, 'the backend')
    socket.destroy()
    await expect(noStreams()).resolves.toBeUndefined()
  })

  it('during a response', async () => {
    serve = (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('first')
    }
    processor.reset(passing)
    const stream = client.request({ ':path': '/all' })
    stream.on('error', () => undefined)
    await once(stream, 'data')
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await expect(noStreams()).resolves.toBeUndefined()
    await until(() => backend.streams.every(({ destroyed, closed }) => destroyed || closed), 'the backend')
  })

  it('during a request', async () => {
    processor.reset(empty)
    const socket = connect(proxy.port, '127.0.0.1')
    socket.write('POST /buffered HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nx')
    await until(() => partsOf(processor.seen).includes('requestHeaders'), 'the headers')
    socket.destroy()
    await expect(noStreams()).resolves.toBeUndefined()
  })

  it('or break the framing get an error', async () => {
    processor.reset(empty)
    const socket = connect(proxy.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    socket.write('POST /buffered HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n')
    await until(() => partsOf(processor.seen).includes('requestHeaders'), 'the headers')
    socket.write('zz\r\n')
    await once(socket, 'close')
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    await expect(noStreams()).resolves.toBeUndefined()
  })
})
