// Readiness on :15021: `/healthz/ready` (data-plane supplement, section 6.1). The status answers the probe; the body
// names the pending parts and the last rejected configuration.
import type { HttpListener, ListenAddress } from './http-listener.ts'
import { listenHttp, sendText, splitTarget } from './http-listener.ts'

export interface Readiness {
  /** Names of what is missing; empty when ready. */
  readonly pending: readonly string[]
  /** Why the last configuration was refused; undefined when it was not. */
  readonly rejected: string | undefined
}

const PATH = '/healthz/ready'

/** @throws {StartError} */
export function startReadinessServer(address: ListenAddress, readiness: () => Readiness): Promise<HttpListener> {
  return listenHttp('readiness server', address, (request, response) => {
    if (splitTarget(request).path !== PATH) {
      sendText(response, 404, `not found; path: ${PATH}\n`)
      return
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      sendText(response, 405, 'method not allowed\n')
      return
    }
    const { pending, rejected } = readiness()
    const detail = rejected === undefined ? '' : `last configuration rejected: ${rejected}\n`
    if (pending.length === 0) sendText(response, 200, `ready\n${detail}`)
    else sendText(response, 500, `not ready, pending: ${pending.toSorted().join(', ')}\n${detail}`)
  })
}
