// Clients that leave before the end of an answer: the call of the provider ends as well, at each of its steps.
import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { clientRequest } from './translate/client-requests.testing.ts'

let upstream: Server
let gateway: TestProxy
let begin: (response: ServerResponse) => void = () => {}
let called = 0
let closed = 0

beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      called++
      response.once('close', () => closed++)
      begin(response)
    })
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  gateway = await testProxy({
    routes: [
      {
        name: 'models',
        prefix: '/',
        backend: { ai: { groups: [{ providers: [{ name: 'p', provider: { openai: {} }, hostOverride }] }] } },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

const starting = (type: string, text: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': type })
  response.write(text)
}

describe('a client that leaves', () => {
  it.each([
    ['before the head of the answer', false, () => {}],
    ['within an answer', false, starting('application/json', '{"model":')],
    ['within an event of a stream', true, starting('text/event-stream', 'data: {"model":')],
  ])('%s ends the call of the provider', async (_, isStreaming, start) => {
    begin = start
    const [callsBefore, closedBefore] = [called, closed]
    const { path, body } = clientRequest('Completions', {}, isStreaming)
    const leaving = new AbortController()
    const answer = fetch(gateway.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    })
    await until('the provider is called', () => called > callsBefore)
    if (isStreaming) await answer
    leaving.abort()
    if (!isStreaming) await expect(answer).rejects.toThrow('abort')
    await until('the call has ended', () => closed > closedBefore)
    expect(called).toBe(callsBefore + 1)
  })
})
