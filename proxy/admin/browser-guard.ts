// Keeps web pages away from the admin server: a page of another site may reach a loopback port through the user's
// browser. DNS rebinding is stopped by the Host header, cross-site requests by Sec-Fetch-Site and Origin. Pure.
import type { IncomingHttpHeaders } from 'node:http'

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

/** `allowedHost`: the address the server was told to listen on, when that is a particular one. */
export function isTrustedHost(hostHeader: string | undefined, allowedHost: string | undefined): boolean {
  if (hostHeader === undefined) return false
  const name = hostHeader.toLowerCase().replace(/:\d{1,5}$/, '')
  if (LOOPBACK_HOSTS.has(name)) return true
  if (allowedHost === undefined) return false
  return name === (allowedHost.includes(':') ? `[${allowedHost}]` : allowedHost).toLowerCase()
}

/** True for tools and for pages of the admin server itself. */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const { origin, host } = headers
  return origin === undefined || (host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`)
}
