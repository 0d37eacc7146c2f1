// What counting and logging cost each request: `node proxy/metrics/bench.ts`. Prints nanoseconds of CPU time
// per request, the best of several passes.
import { type Connection, Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest, HttpResponse } from '../message/message.ts'
import { createAccessLog } from '../log/access-log.ts'
import { createLineRing, lineRingReader, lineRingWriter } from '../log/line-ring.ts'
import type { LogFormat } from '../log/logger.ts'
import { SeriesTable, createMetricsBuffer } from './buffer.ts'
import { Recorder } from './recorder.ts'

const ROUNDS = 500_000
const PASSES = 4
const PLACES = 100

const connection: Connection = {
  id: 1,
  sourceAddress: '10.1.2.3',
  sourcePort: 45_678,
  localAddress: '10.1.2.4',
  localPort: 8080,
  isTls: false,
  sni: undefined,
  signal: new AbortController().signal,
  close: () => undefined,
  cut: () => true,
}

const exchanges = Array.from({ length: PLACES }, (_, i) => exchangeOf(i))

function exchangeOf(i: number): Exchange {
  const request = new HttpRequest({
    method: i % 3 === 0 ? 'POST' : 'GET',
    path: `/api/v1/things/${i}`,
    query: 'page=2',
    host: 'shop.example.com',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of([
      ['user-agent', 'bench'],
      ['accept', '*/*'],
    ]),
  })
  const exchange = new Exchange(connection, request, performance.now())
  const place: ExchangePlace = {
    bind: '8080/infra/edge',
    gatewayNamespace: 'infra',
    gatewayName: 'edge',
    listener: 'http',
    routeKind: 'HTTPRoute',
    routeNamespace: 'shop',
    routeName: `route-${i}`,
    routeRule: undefined,
  }
  exchange.place = place
  exchange.response = HttpResponse.local(200, 'ok')
  exchange.endpoint = '10.2.0.1:8080'
  exchange.backendName = `shop/backend-${i}`
  exchange.backendProtocol = 'http'
  exchange.upstreamStartMs = exchange.startMs + 0.02
  exchange.upstreamHeadMs = exchange.startMs + 0.8
  exchange.responseBytes = 1234
  return exchange
}

function measure(name: string, once: (exchange: Exchange) => void): void {
  for (let warm = 0; warm < 2; warm++) for (let i = 0; i < ROUNDS / 10; i++) once(at(i))
  let nanos = Infinity
  for (let pass = 0; pass < PASSES; pass++) {
    const start = process.threadCpuUsage()
    for (let i = 0; i < ROUNDS; i++) once(at(i))
    const { user, system } = process.threadCpuUsage(start)
    nanos = Math.min(nanos, ((user + system) * 1000) / ROUNDS)
  }
  process.stdout.write(`${name.padEnd(40)} ${nanos.toFixed(0).padStart(6)} ns\n`)
}

function at(i: number): Exchange {
  const exchange = exchanges[i % PLACES]
  if (exchange === undefined) throw new Error('no exchange')
  return exchange
}

const recorder = new Recorder(new SeriesTable(createMetricsBuffer()))
let end = 0
measure(`metrics, ${PLACES} routes in turn`, (exchange) => recorder.finished(exchange, exchange.startMs + 1))
measure('performance.now()', () => {
  end += performance.now()
})
for (const format of ['text', 'json'] satisfies LogFormat[]) {
  let bytes = 0
  const log = createAccessLog({
    format,
    write: (line) => {
      bytes += line.length
    },
  })
  measure(`access log ${format}, line built`, (exchange) => log.log(exchange, undefined, exchange.startMs + 1))

  const ring = createLineRing()
  const reader = lineRingReader(ring)
  const write = lineRingWriter(ring, () => undefined)
  let lines = 0
  const ringLog = createAccessLog({
    format,
    write: (line) => {
      write(line)
      if (++lines % 1000 === 0) reader.take()
    },
  })
  measure(`access log ${format}, into the ring`, (exchange) => ringLog.log(exchange, undefined, exchange.startMs + 1))
  if (bytes === 0 || end === 0) throw new Error('nothing was measured')
}
