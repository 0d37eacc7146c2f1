// CPU time of a call of a tool from the request to the whole answer, without sockets: `node proxy/mcp/bench.ts`.
import type { BackendHandler } from '../chain/handler.ts'
import { Exchange } from '../exchange/exchange.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest } from '../message/message.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { arrived, mcpBackend, textOf } from './backend.testing.ts'

const CALLS = 10_000
const ROUNDS = 7
const HEADERS: readonly (readonly [string, string])[] = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
  ['mcp-protocol-version', '2025-06-18'],
]
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})
const INITIALIZED = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'bench', version: '1' } },
})
const RESULT = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: 'x'.repeat(600) }], isError: false },
})
const JSON_ANSWER = { type: 'application/json', body: RESULT }
const STREAM_ANSWER = { type: 'text/event-stream', body: `event: message\ndata: ${RESULT}\n\n` }

const callOf = (name: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { query: 'x'.repeat(100), limit: 10 } },
  })

/** Requests share it, as those of one client. */
const { connection } = exchangeOf({})

async function send(
  handler: BackendHandler,
  body: string,
  headers: readonly (readonly [string, string])[],
): Promise<Exchange> {
  const request = new HttpRequest({
    method: 'POST',
    path: '/mcp',
    query: '',
    host: 'example.com',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of(headers),
  })
  const exchange = new Exchange(connection, request, performance.now())
  exchange.request.body = arrived(body)
  await new Promise<void>((resolve) => handler(exchange, () => resolve()))
  if (exchange.response?.status !== 200) throw new Error(`${exchange.response?.status} ${exchange.errorDetail}`)
  return exchange
}

for (const [what, count, answer] of [
  ['1 server, JSON', 1, JSON_ANSWER],
  ['1 server, stream', 1, STREAM_ANSWER],
  ['4 servers, JSON', 4, JSON_ANSWER],
  ['4 servers, stream', 4, STREAM_ANSWER],
] as const) {
  const names = Array.from({ length: count }, (_, index) => `t${index}`)
  const handler = mcpBackend(names, ({ headers }) =>
    headers.has('mcp-session-id') ? answer : { type: 'application/json', session: 'of-server', body: INITIALIZED },
  )
  const opened = await send(handler, INITIALIZE, HEADERS)
  const id = opened.response?.headers.get('mcp-session-id') ?? ''
  const inSession = [...HEADERS, ['mcp-session-id', id] as const]
  const body = callOf(count === 1 ? 'search' : 't2_search')
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < CALLS; i++) await textOf((await send(handler, body, inSession)).response?.body)
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / CALLS)
  }
  console.log(`tools/call, ${what}: ${best.toFixed(1)} us`)
}
