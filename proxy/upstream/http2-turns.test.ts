// A backend that answers with thousands of tiny frames leaves turns of the event loop to others, and loses nothing.
import net from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { listeningUntil } from '#test/ports.ts'
import { targetOf } from '../http/server.testing.ts'
import { END_HEADERS, END_STREAM, frame, FrameType } from '../http2/bind-server.testing.ts'
import { FRAMES_PER_TURN } from '../http2/read-turns.ts'
import { HeaderList } from '../message/headers.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { createUpstreamClient } from './client.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

const COUNT = 60_000
const TINY = frame(FrameType.Data, 0, 1, 'a')
/** What node reads at once. */
const READ_BYTES = 65_536
/** RFC 7541 section 6.1: `:status: 200` of the static table. */
const STATUS_200 = Buffer.from([0x88])

/** Answers its first request with many frames of one byte. */
function tinyFrames(socket: net.Socket): void {
  socket.on('error', () => undefined)
  socket.write(frame(FrameType.Settings, 0, 0))
  socket.once('data', () => {
    socket.write(frame(FrameType.Headers, END_HEADERS, 1, STATUS_200))
    socket.write(Buffer.concat(Array.from({ length: COUNT }, () => TINY)))
    socket.write(frame(FrameType.Data, END_STREAM, 1))
  })
}

it('DATA frames of one byte are handled in turns, and all of them arrive', async () => {
  const port = await listeningUntil(stops, net.createServer(tinyFrames))
  const client = createUpstreamClient()
  stops.push(() => client.close())
  const request = { method: 'GET', pathAndQuery: '/', authority: 'a', headers: HeaderList.of([]), body: undefined }
  const target = targetOf(port, { httpVersion: 'HTTP2' })
  const response = await client.send(target, request, { deadlineMs: performance.now() + 30_000, signal: undefined })
  const { body } = response
  if (!(body instanceof IncomingBody)) throw new Error('no body')
  let [all, ofTurn] = [0, 0]
  const turns: number[] = []
  const over = new AbortController()
  stops.push(() => over.abort())
  void (async () => {
    while (!over.signal.aborted) {
      await nextTurn()
      turns.push(ofTurn)
      ofTurn = 0
    }
  })()
  for await (const chunk of body) {
    all += chunk.length
    ofTurn += chunk.length
  }
  turns.push(ofTurn)
  expect(all).toBe(COUNT)
  // One read more than the limit, which came before the first check; two turns of the connection may be one of ours.
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * (FRAMES_PER_TURN + READ_BYTES / TINY.length))
})
