// What bench/run.sh measures: the two engines with nothing in between, HTTP/2 clients to an HTTP/1.1 backend.
// Arguments: port, backend port, HTTP1 or HTTP2.
import { DEFAULT_LIMITS, type RequestHandler } from '../../http/handler.ts'
import { createUpstreamClient } from '../../upstream/client.ts'
import { createBindServer } from '../bind-server.ts'

const [port = '8081', backendPort = '8082', version = 'HTTP1'] = process.argv.slice(2)
const client = createUpstreamClient()
const target = {
  key: 'backend',
  host: '127.0.0.1',
  port: Number(backendPort),
  unixPath: undefined,
  tls: undefined,
  httpVersion: version === 'HTTP2' ? 'HTTP2' : 'HTTP1',
  connectTimeoutMs: 10_000,
} as const
const handler: RequestHandler = {
  limits: DEFAULT_LIMITS,
  handle: (exchange, respond) => client.forward(exchange, target, exchange.request.host, respond),
  finished() {},
  transferred() {},
  refused() {},
}
await createBindServer(handler).listen({ host: '127.0.0.1', port: Number(port), reusePort: false })
