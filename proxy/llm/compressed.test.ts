// Compressed answers of every provider for every client, whole and streamed in small pieces: the SDK of the client
// reads what it reads without compression. With bombs.
// @module-tag full
import { pipeline, Readable } from 'node:stream'
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Script, scriptedUpstream, type ScriptedUpstream, status } from '../backend/scripted-upstream.testing.ts'
import { logFile } from './log-file.testing.ts'
import { ALL_PAIRS, PROVIDERS, providersGateway, type TestProvider } from './providers.testing.ts'
import { clientRequest } from './translate/client-requests.testing.ts'
import { CLIENTS } from './translate/clients.testing.ts'
import { SCENARIOS, type VendorName } from './translate/vendors.testing.ts'

const ENCODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync,
}
const PIECE_BYTES = 37
const BOMB = gzipSync(Buffer.alloc(40_000_000, ' '))

let upstream: ScriptedUpstream
let gateway: TestProxy
const log = logFile()

beforeAll(async () => {
  upstream = await scriptedUpstream(status(500))
  gateway = await providersGateway(upstream.port, [{ prefix: '' }], log.settings)
})

afterAll(async () => {
  await gateway.stop()
  upstream.stop()
  log.remove()
})

async function ask(route: string, client: VendorName, isStreaming: boolean): Promise<Response> {
  const { path, body } = clientRequest(client, {}, isStreaming)
  return fetch(`${gateway.url}/${route}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
}

/** In pieces, so that the decoder ends in the middle of events. */
const inPieces =
  (contentType: string, encoding: string, bytes: Buffer): Script =>
  (response) => {
    response.writeHead(200, { 'content-type': contentType, 'content-encoding': encoding })
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) response.write(bytes.subarray(at, at + PIECE_BYTES))
    response.end()
  }

describe.each(ALL_PAIRS)('%s for a client of %s', (name, client) => {
  const provider: TestProvider = PROVIDERS[name]
  const isForwarded = provider.client === client
  /** What the SDK reads. A forwarded answer has the same bytes, also those that an SDK would not read. */
  const read = (reply: Response, isStream: boolean): Promise<unknown> =>
    isForwarded ? reply.text() : CLIENTS[client].read(reply, isStream)

  it.each(Object.entries(ENCODINGS))('%s', async (encoding, encode) => {
    for (const [title, scenario] of Object.entries(SCENARIOS)) {
      const whole = provider.whole(scenario)
      upstream.script = status(200, { 'content-type': 'application/json' }, whole)
      const seen = await read(await ask(name, client, false), false)
      upstream.script = inPieces('application/json', encoding, encode(Buffer.from(whole)))
      expect([title, await read(await ask(name, client, false), false)]).toEqual([title, seen])
      const frames = Buffer.concat(provider.frames(scenario))
      upstream.script = inPieces(provider.streamType, '', frames)
      const streamed = await read(await ask(name, client, true), true)
      upstream.script = inPieces(provider.streamType, encoding, encode(frames))
      const reply = await ask(name, client, true)
      expect(reply.headers.get('content-encoding')).toBeNull()
      expect([title, await read(reply, true)]).toEqual([title, streamed])
    }
  })

  it('a whole answer that is a bomb is a 502', async () => {
    upstream.script = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(BOMB)
    }
    const reply = await ask(name, client, false)
    // An answer that nothing has to read is forwarded as it came.
    expect([reply.status, reply.headers.get('content-encoding')]).toEqual(isForwarded ? [200, 'gzip'] : [502, null])
    await reply.body?.cancel()
  })

  it('an event that is a bomb ends the stream with an error', async () => {
    upstream.script = (response) => {
      response.writeHead(200, { 'content-type': provider.streamType, 'content-encoding': 'gzip' })
      const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
      pipeline(Readable.from(endlessEvent(provider)), gzip, response, () => undefined)
    }
    const reply = await ask(name, client, true)
    if (isForwarded) {
      // Forwarded with the speed of the client: nothing is kept.
      await reply.body?.cancel()
      return
    }
    await expect(read(reply, true)).rejects.toThrow(/ended early/)
  })
})

/** Ends with the connection. */
function* endlessEvent({ frames, streamType }: TestProvider): Generator<Buffer> {
  yield frames({ text: 'hello', stop: 'stop', usage: { input: 1, cached: 0, output: 1 } })[0] ?? Buffer.alloc(0)
  yield streamType === 'text/event-stream' ? Buffer.from('data: {"a":"') : Buffer.from([0x7f, 0, 0, 0])
  const spaces = Buffer.alloc(1_000_000, ' ')
  for (;;) yield spaces
}
