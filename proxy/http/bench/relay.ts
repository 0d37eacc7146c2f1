// Smallest use of the engine: every request goes to one upstream, nothing in between. Driven by wrk.
//
//   taskset -c 0 node proxy/http/bench/relay.ts 9910 9901
//   taskset -c 1 wrk -t1 -c32 -d2s http://127.0.0.1:9910/
//   taskset -c 1 wrk -t1 -c32 -d2s -s proxy/http/bench/vary.lua http://127.0.0.1:9910/
//
// CPU per request = (utime + stime of the process in /proc/<pid>/stat, after - before) / requests. Upstream: nginx
// `return 200` with 34 bytes, on CPU 1. nginx as the proxy in its place: 1 worker, keepalive upstream, access_log off.
// Two shared cores of a busy machine, so only figures of one interleaved run compare (us of CPU per request):
//
//   | request                        | nginx            | this             |
//   |--------------------------------|------------------|------------------|
//   | plain GET, 2 fields, repeated  | 22.4, 18.4, 22.4 | 28.2, 24.1, 26.0 |
//   | browser's head, path varies    | 20.1, 22.0, 21.1 | 32.0, 34.9, 33.6 |
//   | GET of 1 MiB                   | 1141, 970        | 1304, 1016       |
//
// Before the memo of repeated heads, the byte table and the single-character line search the first row was
// nginx 21.8, 21.1, 20.7 and this 38.6, 37.9, 40.4.
import type { Exchange } from '../../exchange/exchange.ts'
import { createUpstreamClient } from '../../upstream/client.ts'
import type { UpstreamTarget } from '../../upstream/target.ts'
import { DEFAULT_LIMITS, type RequestHandler } from '../handler.ts'
import { createHttpServer } from '../server.ts'

const [port = '9910', upstreamPort = '9901'] = process.argv.slice(2)
const target: UpstreamTarget = {
  key: 'bench',
  host: '127.0.0.1',
  port: Number(upstreamPort),
  unixPath: undefined,
  tls: undefined,
  connectTimeoutMs: 10_000,
}
const client = createUpstreamClient()
const handler: RequestHandler = {
  limits: DEFAULT_LIMITS,
  handle(exchange: Exchange, respond: (exchange: Exchange) => void): void {
    client.forward(exchange, target, exchange.request.host, respond)
  },
  finished() {},
  transferred() {},
  refused({ status, detail }) {
    console.error(status, detail)
  },
}
await createHttpServer(handler).listen({ host: '127.0.0.1', port: Number(port), reusePort: false })
process.on('SIGTERM', () => {
  process.exit(0)
})
