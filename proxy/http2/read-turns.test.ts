// Frames of a few bytes: a connection that sends thousands of them at once leaves turns of the event loop to others,
// loses nothing, and is read on also while its client does not read.
import { once } from 'node:events'
import net from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { listeningUntil } from '#test/ports.ts'
import { DEFAULT_LIMITS, type RequestHandler } from '../http/handler.ts'
import { until } from '../http/server.testing.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { END_HEADERS, END_STREAM, frame, FrameType, GET, headerBlock, POST } from './bind-server.testing.ts'
import { FRAMES_PER_TURN, ReadTurns } from './read-turns.ts'
import { createHttp2Server } from './server.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const TINY = frame(FrameType.Data, 0, 1, 'a')
/** What node reads at once. */
const READ_BYTES = 65_536
const LARGE_BYTES = 32 * 1024 * 1024
const pair = certificateFor({ commonName: 'a', names: ['DNS:a.test'] })

interface Served {
  readonly port: number
  /** Bytes of the body that came in each turn. */
  readonly turns: number[]
  readonly bytes: () => number
}

/** Reads the body to its end, then answers. */
async function serve(isTls: boolean): Promise<Served> {
  const turns: number[] = []
  let [all, ofTurn] = [0, 0]
  const readWhole = async (body: IncomingBody): Promise<void> => {
    for await (const chunk of body) {
      all += chunk.length
      ofTurn += chunk.length
    }
  }
  const handler: RequestHandler = {
    limits: DEFAULT_LIMITS,
    handle(exchange, respond) {
      const { body, path } = exchange.request
      if (path !== '/large' && !(body instanceof IncomingBody)) throw new Error('no body')
      const answer = path === '/large' ? Buffer.alloc(LARGE_BYTES) : Buffer.from('done')
      const whole = body instanceof IncomingBody ? readWhole(body) : Promise.resolve()
      void whole.then(() => {
        exchange.response = new HttpResponse(200, new HeaderList(), answer, false)
        respond(exchange)
      })
    },
    finished() {},
    transferred() {},
    refused() {},
  }
  const http2 = createHttp2Server()
  const address = { sourceAddress: '127.0.0.1', sourcePort: 1, localAddress: '127.0.0.1', localPort: 2 }
  const facts = { ...address, isTls, sni: undefined, peer: undefined }
  const accept = (socket: net.Socket): void => http2.serveHttp2Socket(socket, facts, { current: handler })
  const server = isTls
    ? tls.createServer({ cert: pair.certificate, key: pair.privateKey, ALPNProtocols: ['h2'] }, accept)
    : net.createServer(accept)
  const port = await listeningUntil(stops, server)
  stops.push(() => http2.destroyAll())
  let isOn = true
  const turn = (): void => {
    if (ofTurn > 0) turns.push(ofTurn)
    ofTurn = 0
    if (isOn) setImmediate(turn)
  }
  setImmediate(turn)
  stops.push(() => (isOn = false))
  return { port, turns, bytes: () => all }
}

async function connect(port: number, isTls: boolean): Promise<net.Socket> {
  const socket = isTls
    ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    : net.connect(port, '127.0.0.1')
  stops.push(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, isTls ? 'secureConnect' : 'connect')
  socket.write(Buffer.concat([PREFACE, frame(FrameType.Settings, 0, 0)]))
  return socket
}

describe('a turn', () => {
  function turnsOf(writeQueueSize: number): { turns: ReadTurns; calls: string[] } {
    const calls: string[] = []
    const handle = { readStop: () => calls.push('stop'), readStart: () => calls.push('start'), writeQueueSize }
    // Of a socket nothing else is used.
    const socket = { destroyed: false, _handle: handle } as unknown as net.Socket
    return { turns: new ReadTurns(socket), calls }
  }

  const frames = (turns: ReadTurns, count: number): void => {
    for (let i = 0; i < count; i++) turns.frame()
  }

  it('ends reading after so many frames, once, and the next one begins it again', async () => {
    const { turns, calls } = turnsOf(0)
    frames(turns, FRAMES_PER_TURN - 1)
    expect(calls).toEqual([])
    frames(turns, FRAMES_PER_TURN)
    expect(calls).toEqual(['stop'])
    await nextTurn()
    expect(calls).toEqual(['stop', 'start'])
    frames(turns, FRAMES_PER_TURN - 1)
    await nextTurn()
    expect(calls).toEqual(['stop', 'start'])
  })

  it('leaves reading to node:http2 while it writes', async () => {
    const { turns, calls } = turnsOf(1)
    frames(turns, FRAMES_PER_TURN)
    await nextTurn()
    expect(calls).toEqual(['stop'])
  })
})

describe.each([false, true])('TLS %s', (isTls) => {
  it('thousands of DATA frames of one byte are worked off in turns, and all of them arrive', async () => {
    const { port, turns, bytes } = await serve(isTls)
    const socket = await connect(port, isTls)
    socket.resume()
    const count = 60_000
    socket.write(frame(FrameType.Headers, END_HEADERS, 1, headerBlock(POST)))
    socket.write(Buffer.concat(Array.from({ length: count }, () => TINY)))
    socket.write(frame(FrameType.Data, END_STREAM, 1))
    await until(() => bytes() === count)
    // One read more than the limit, which came before the first check; two turns of the connection are one of ours
    // where what was joined in the first is seen in the second.
    expect(Math.max(...turns)).toBeLessThanOrEqual(2 * (FRAMES_PER_TURN + READ_BYTES / TINY.length))
  })
})

it('frames that wait while a response cannot be written are read when it is', async () => {
  const { port, bytes } = await serve(false)
  const socket = await connect(port, false)
  socket.pause()
  const wide = Buffer.from([0x7f, 0xff, 0, 0])
  const windowSetting = Buffer.concat([Buffer.from([0, 4]), Buffer.from([0x7f, 0xff, 0xff, 0xff])])
  socket.write(frame(FrameType.Settings, 0, 0, windowSetting))
  socket.write(frame(FrameType.WindowUpdate, 0, 0, wide))
  socket.write(frame(FrameType.Headers, END_HEADERS, 1, headerBlock(POST)))
  // The kernel takes some of the response; node:http2 reads nothing while the rest waits.
  const large = GET.map(([name, value]) => [name, name === ':path' ? '/large' : value] as const)
  socket.write(frame(FrameType.Headers, END_HEADERS | END_STREAM, 3, headerBlock(large)))
  const count = 30_000
  socket.write(Buffer.concat(Array.from({ length: count }, () => TINY)))
  socket.write(frame(FrameType.Data, END_STREAM, 1))
  let seen = 0
  socket.on('data', (chunk) => (seen += chunk.length))
  socket.resume()
  await until(() => bytes() === count && seen > LARGE_BYTES)
  expect(socket.destroyed).toBe(false)
})
