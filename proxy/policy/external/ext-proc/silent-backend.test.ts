// Responses of a backend that stops sending: a client that disconnects closes both streams.
import type { ServerResponse } from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import { until } from '#test/wait.ts'
import { empty, partsOf, passing } from './processor.testing.ts'

const open = new Set<ServerResponse>()
let harness: Harness

beforeAll(async () => {
  harness = await startHarness({
    routes: {
      all: {},
      buffered: { extProc: { processingOptions: { responseBodyMode: 'Buffered' } } },
    },
    timeoutMs: 60_000,
    backend(_, response) {
      open.add(response)
      response.on('close', () => open.delete(response))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': hello\n\n')
      return true
    },
  })
})

afterAll(async () => {
  for (const response of open) response.destroy()
  await harness.stop()
})

it.each(['all', 'buffered'])('is closed with the client (%s)', async (route) => {
  harness.processor.reset(route === 'all' ? passing : empty)
  const socket = net.connect(harness.proxy.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  socket.write(`GET /${route} HTTP/1.1\r\nhost: a\r\n\r\n`)
  await until('the processor sees the response', () => {
    return partsOf(harness.processor.seen).some((part) => part.startsWith('responseHeaders'))
  })
  socket.resetAndDestroy()
  await until('the backend is left', () => open.size === 0, 3000)
  await until('the processor is left', () => harness.processor.open === 0, 3000)
  expect(open.size).toBe(0)
})
