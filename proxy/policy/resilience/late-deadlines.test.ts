// The end of a request and that of its call, when the event loop is so late that both are due.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startUpstream, targetOf, type Upstream } from '../../http/server.testing.ts'
import { HeaderList } from '../../message/headers.ts'
import { createUpstreamClient } from '../../upstream/client.ts'
import type { UpstreamRequest } from '../../upstream/target.ts'
import { exchangeOf } from '../exchange.testing.ts'
import { RequestDeadline } from './request-deadline.ts'

const REQUEST: UpstreamRequest = {
  method: 'GET',
  pathAndQuery: '/',
  authority: 'a.test',
  headers: new HeaderList(),
  body: undefined,
}
const WHOLE_MS = 100
const CALL_MS = 130
const client = createUpstreamClient()
let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart'))
})

afterAll(async () => {
  client.close()
  await upstream.close()
})

it('the request ends before its call', async () => {
  const startMs = performance.now()
  const options = { deadlineMs: startMs + 60_000, bodyDeadlineMs: startMs + CALL_MS, signal: undefined }
  const { body } = await client.send(targetOf(upstream.port), REQUEST, options)
  const order: string[] = []
  const exchange = exchangeOf()
  exchange.connection.cut = () => order.push('request') > 0
  const deadline = new RequestDeadline(exchange, startMs + WHOLE_MS)
  const read = body.collect(100).catch(() => order.push('call'))
  while (performance.now() < startMs + CALL_MS + 50);
  await read
  deadline.settle()
  expect(order).toEqual(['request', 'call'])
})
