import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { TraceHub, type Inspectable } from '../trace/hub.ts'
import type { MessagePort } from 'node:worker_threads'
import { answerTrace } from './trace.ts'

const servers: Server[] = []
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) closeServer(server)
})

/** A worker that the test speaks for. */
class FakeWorker implements Inspectable {
  readonly slot = 0
  port: MessagePort | undefined

  inspect(_request: unknown, port: MessagePort): void {
    this.port = port
    port.on('message', () => undefined)
    port.postMessage({ type: 'armed' })
  }
}

const EVENT_BYTES = 256 * 1024
const EVENTS = 200
const HELD_MAX = 32

describe('a watcher that does not read', () => {
  it('loses events, and gets the end of the stream once it reads again', async () => {
    const worker = new FakeWorker()
    const hub = new TraceHub(() => [worker])
    const server = createServer((_request, response) =>
      answerTrace({ traces: hub, customFunctions: () => undefined }, new URLSearchParams(), response),
    )
    servers.push(server)
    const socket = connect({ host: '127.0.0.1', port: await listening(server) })
    sockets.push(socket)
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => text).toContain(': ready\n\n')
    socket.pause()
    worker.port?.postMessage({ type: 'claimed' })
    for (let i = 0; i < EVENTS; i++) {
      worker.port?.postMessage({ type: 'event', json: JSON.stringify({ i, filler: 'x'.repeat(EVENT_BYTES) }) })
    }
    // The fake worker answers only after main has taken everything before: nothing waits for the reader.
    const closed = new Promise((resolve) => worker.port?.once('close', resolve))
    worker.port?.postMessage({ type: 'end' })
    await closed
    socket.resume()
    await expect.poll(() => text.endsWith('0\r\n\r\n'), { timeout: 10_000 }).toBe(true)
    const got = [...text.matchAll(/data: \{"i":(\d+)/g)].map(([, i]) => Number(i))
    expect(got).toEqual([...got].sort((a, b) => a - b))
    expect(got[0]).toBe(0)
    expect(got.length).toBeGreaterThan(HELD_MAX)
    expect(got.length).toBeLessThan(EVENTS)
    expect(got.at(-1)).toBe(EVENTS - 1)
    expect(hub.dropped).toBe(EVENTS - got.length)
    expect(text).toContain(`: ${hub.dropped} events were dropped\n\n`)
  })
})
