// Metrics on :15020: `/metrics` and `/stats/prometheus`, any method (data-plane supplement, section 6.1).
import type { Exposition } from '../metrics/exposed.ts'
import type { HttpListener, ListenAddress } from './http-listener.ts'
import { listenHttp, send, sendText, splitTarget } from './http-listener.ts'

const PATHS = new Set(['/metrics', '/stats/prometheus'])

/** @throws {StartError} */
export function startStatsServer(address: ListenAddress, exposition: Exposition): Promise<HttpListener> {
  return listenHttp('metrics server', address, (request, response) => {
    if (!PATHS.has(splitTarget(request).path)) {
      sendText(response, 404, 'not found; paths: /metrics, /stats/prometheus\n')
      return
    }
    exposition.scrape(request.headers.accept).then(
      ({ contentType, body }) => send(response, { status: 200, type: contentType, body }),
      () => sendText(response, 500, 'the metrics could not be collected\n'),
    )
  })
}
