// URLs of the listeners of the gateway, for forms.
import { type BoundListener, listenersOf, protocolOf } from '#cli/proxy/rows.ts'
import type { Dump } from './api.ts'

const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['HTTP', 'http'],
  ['HTTPS', 'https'],
])

/** Each with its port, such as `http://localhost:8080`. */
export function listenerUrls(dump: Dump): string[] {
  return [...new Set(listenersOf(dump).flatMap((bound) => urlOf(bound) ?? []))]
}

/** undefined: clients of HTTP cannot connect to it. */
export function urlOf({ address, listener }: BoundListener): string | undefined {
  const scheme = SCHEMES.get(protocolOf(listener))
  const port = /:(\d+)$/.exec(address)?.[1]
  const host = listener.hostname === '' || listener.hostname.startsWith('*') ? 'localhost' : listener.hostname
  return scheme === undefined || port === undefined ? undefined : `${scheme}://${host}:${port}`
}
