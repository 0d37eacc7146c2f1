// Requests that announce an empty body and leave their stream open: whatever follows, in padding, frames or trailers,
// an HTTP/1.1 backend never sees bytes that it could take for a request.
import { afterEach, describe, expect, it } from 'vitest'
import { OK, startUpstream, until, type Upstream } from '../http/server.testing.ts'
import * as http2 from './bind-server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

const { Data, Headers, Reset } = http2.FrameType
const PADDED = 8
const SMUGGLED = 'GET /admin HTTP/1.1\r\nhost: a\r\n\r\n'
const TRAILERS = http2.headerBlock([['x-t', '1']])
const EMPTY = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n'
const WITH_TRAILERS = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx-t: 1\r\n\r\n'

function padded(text: string, padding: number): Buffer {
  return Buffer.concat([Buffer.from([padding]), Buffer.from(text), Buffer.alloc(padding)])
}

const data = (flags: number, payload: Buffer | string = ''): Buffer => http2.frame(Data, flags, 1, payload)

async function asked(frames: readonly Buffer[]): Promise<{ client: http2.FrameClient; upstream: Upstream }> {
  const upstream = await startUpstream((socket, text) => {
    if (text.endsWith('\r\n\r\n')) socket.write(OK)
  })
  const proxy = await http2.startProxy(upstream.port, { target: { httpVersion: 'HTTP1' } })
  const client = await http2.FrameClient.connect(proxy.port)
  open.push(upstream, proxy, { close: () => client.socket.destroy() })
  client.headers(1, [...http2.POST, ['content-length', '0']], http2.END_HEADERS).write(...frames)
  await until(
    () =>
      client.isClosed ||
      client.frames.some(({ type, flags }) => type === Reset || (type === Data && flags === http2.END_STREAM)),
  )
  await until(() => proxy.server.activeRequests === 0)
  return { client, upstream }
}

describe('a request that announces a length of 0', () => {
  it.each<[string, Buffer[], string]>([
    ['an empty DATA frame with padding ends it', [data(PADDED | http2.END_STREAM, padded('', 50))], EMPTY],
    ['padding alone, then the end', [data(PADDED, padded('', 50)), data(http2.END_STREAM)], EMPTY],
    ['trailers', [http2.frame(Headers, http2.END_HEADERS | http2.END_STREAM, 1, TRAILERS)], WITH_TRAILERS],
    [
      'an empty DATA frame, then trailers',
      [data(0), http2.frame(Headers, http2.END_HEADERS | http2.END_STREAM, 1, TRAILERS)],
      WITH_TRAILERS,
    ],
  ])('is passed on: %s', async (_name, frames, expected) => {
    const { client, upstream } = await asked(frames)
    expect(upstream.received()).toBe(expected)
    expect(client.frames.filter(({ type }) => type === Reset)).toEqual([])
  })

  it.each<[string, Buffer[]]>([
    ['data with padding', [data(PADDED | http2.END_STREAM, padded(SMUGGLED, 5))]],
    ['data, then trailers', [data(0, SMUGGLED), http2.frame(Headers, 5, 1, TRAILERS)]],
    ['trailers that do not end it', [http2.frame(Headers, http2.END_HEADERS, 1, TRAILERS)]],
    ['trailers with a path', [http2.frame(Headers, 5, 1, http2.headerBlock([[':path', '/admin']]))]],
    ['trailers with a coding', [http2.frame(Headers, 5, 1, http2.headerBlock([['transfer-encoding', 'chunked']]))]],
  ])('is reset, and reaches no backend: %s', async (_name, frames) => {
    const { client, upstream } = await asked(frames)
    expect(upstream.received()).toBe('')
    expect(client.frames.some(({ type, stream }) => type === Reset && stream === 1)).toBe(true)
  })
})
