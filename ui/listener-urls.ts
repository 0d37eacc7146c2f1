// URLs of the listeners of the gateway, for forms.
import { listenersOf, protocolOf } from '#cli/proxy/rows.ts'
import type { Dump } from './api.ts'

const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['HTTP', 'http'],
  ['HTTPS', 'https'],
])

/** Each with its port, such as `http://localhost:8080`. */
export function listenerUrls(dump: Dump): string[] {
  const urls = listenersOf(dump).flatMap(({ address, listener }) => {
    const scheme = SCHEMES.get(protocolOf(listener))
    const port = /:(\d+)$/.exec(address)?.[1]
    const host = listener.hostname === '' || listener.hostname.startsWith('*') ? 'localhost' : listener.hostname
    return scheme === undefined || port === undefined ? [] : [`${scheme}://${host}:${port}`]
  })
  return [...new Set(urls)]
}
