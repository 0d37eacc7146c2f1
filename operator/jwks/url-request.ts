// Key sets that a standalone file names by URL. Pure.
import { requestTo } from '../translate/policy/jwks-request.ts'
import { tlsOf } from '../translate/policy/jwks-tls.ts'
import type { OwnedRequest } from './requests.ts'

const PORTS = new Map([
  ['http:', 80],
  ['https:', 443],
])

/** The key of each request is the URL as it stands in the file. */
export function urlRequests(urls: readonly string[]): readonly OwnedRequest[] {
  return urls.map((text) => {
    const { protocol, hostname, port, pathname, search } = new URL(text)
    // IPv6 addresses are in brackets only in a URL.
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const place = { host, port: port === '' ? (PORTS.get(protocol) ?? 0) : Number(port) }
    // An empty object of TLS settings: the authorities of the system.
    const tls = protocol === 'https:' ? { tls: tlsOf({}) } : {}
    return {
      ...requestTo({ place, path: `${pathname}${search}`, ...tls }),
      key: text,
      url: text,
      refresh: 'asServerSays',
    }
  })
}
