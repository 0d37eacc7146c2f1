// Keeps web pages away from the admin server: a page of another site may reach a loopback port through the user's
// browser. DNS rebinding is stopped by the Host header, cross-site requests by Sec-Fetch-Site and Origin. Pages of this
// machine on the ports of the web UI under development may (data-plane supplement, section 6.6). Pure.
import type { IncomingHttpHeaders } from 'node:http'

/** Where the web UI runs while it is being written. */
const TRUSTED_ORIGINS: ReadonlySet<string> = new Set(
  ['localhost', '127.0.0.1', '0.0.0.0'].flatMap((host) => [3000, 19000].map((port) => `http://${host}:${port}`)),
)
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

/** `allowedHost`: the configured listen address, if it is a particular one. */
export function isTrustedHost(hostHeader: string | undefined, allowedHost: string | undefined): boolean {
  if (hostHeader === undefined) return false
  const name = hostHeader.toLowerCase().replace(/:\d{1,5}$/, '')
  if (LOOPBACK_HOSTS.has(name)) return true
  if (allowedHost === undefined) return false
  return name === (allowedHost.includes(':') ? `[${allowedHost}]` : allowedHost).toLowerCase()
}

/** Response headers for a page with the rights of command-line tools. undefined: the page has no such rights. */
export function corsHeaders({ origin }: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  if (origin === undefined || !TRUSTED_ORIGINS.has(origin)) return undefined
  return { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary: 'origin' }
}

/** For the question that a browser asks before some requests. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'accept, authorization, cache-control, content-type',
  'access-control-max-age': '600',
} as const

/** True for tools, for pages of the admin server itself and for those of trusted origins. */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  if (corsHeaders(headers) !== undefined) return true
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const { origin, host } = headers
  return origin === undefined || (host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`)
}

/**
 * For requests that act in the name of the user: true for tools, and for pages of the admin server itself. Pages of
 * trusted origins, which any program of this machine may serve, are not enough.
 */
export function isOwnPage(headers: IncomingHttpHeaders): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (origin !== undefined && (host === undefined || origin.toLowerCase() !== `http://${host.toLowerCase()}`))
    return false
  return site === undefined || site === 'same-origin'
}
