// Splits an authority (`host`, `host:port`, `[v6]:port`) into its parts. Allocates only the requested part.

import { isIPv6 } from 'node:net'

const DOT = 0x2e
const BRACKET = 0x5b
/** RFC 1035 section 2.3.4, without the trailing dot. */
const NAME_LENGTH_MAX = 253
/** Labels of 1 to 63 characters (RFC 1035 section 2.3.4), with an optional trailing dot. */
const NAME = /^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?$/
/** A port with a leading zero would be a second spelling; port 0 cannot be connected to. */
const PORT = /^:[1-9][0-9]{0,4}$/
const PORT_MAX = 65_535

/** A host with an optional port. Names with empty or overlong labels are rejected: DNS does not allow them. */
export function isAuthority(authority: string): boolean {
  const end = hostEnd(authority)
  if (end < authority.length) {
    const port = authority.slice(end)
    if (!PORT.test(port) || Number(port.slice(1)) > PORT_MAX) return false
  }
  const host = end === authority.length ? authority : authority.slice(0, end)
  return host.charCodeAt(0) === BRACKET ? isLiteral(host) : isHostName(host)
}

/** An IPv6 address in brackets, without a zone: zones have no meaning on other machines. */
function isLiteral(host: string): boolean {
  return host.endsWith(']') && !host.includes('%') && isIPv6(host.slice(1, -1))
}

/** A name or an IPv4 address. */
export function isHostName(host: string): boolean {
  if (!NAME.test(host)) return false
  return host.length <= NAME_LENGTH_MAX || (host.length === NAME_LENGTH_MAX + 1 && host.endsWith('.'))
}

/** The host without port, lower case, IPv6 literals with their brackets. */
export function hostOf(authority: string): string {
  const end = hostEnd(authority)
  return (end === authority.length ? authority : authority.slice(0, end)).toLowerCase()
}

/** The port, if it is valid. */
export function portOf(authority: string): number | undefined {
  const end = hostEnd(authority)
  const digits = authority.length - end - 1
  if (digits < 1 || digits > 5) return undefined
  let port = 0
  for (let i = end + 1; i < authority.length; i++) {
    const digit = authority.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return undefined
    port = port * 10 + digit
  }
  return port >= 1 && port <= 65_535 ? port : undefined
}

/**
 * The canonical form of a valid authority in lower case: without the default port of the scheme and without a trailing
 * dot (RFC 1034 section 3.1); otherwise `a.test.` could bypass rules for `a.test`.
 */
export function canonicalAuthority(authority: string, isTls: boolean): string {
  return withoutDefaultPort(withoutRootDot(authority), isTls)
}

/** For CONNECT, whose port belongs to the destination: the same canonical form, but with every port. */
export function withoutRootDot(authority: string): string {
  const end = hostEnd(authority)
  const hasRootDot = end > 1 && authority.charCodeAt(end - 1) === DOT
  return hasRootDot ? authority.slice(0, end - 1) + authority.slice(end) : authority
}

/** Removes the default port of the scheme (RFC 9110 section 4.2.3) from a valid authority. */
export function withoutDefaultPort(authority: string, isTls: boolean): string {
  const port = isTls ? ':443' : ':80'
  return authority.endsWith(port) ? authority.slice(0, -port.length) : authority
}

/** Index of the colon before the port, or the length if there is no port. */
function hostEnd(authority: string): number {
  if (authority.charCodeAt(0) === BRACKET) {
    const bracket = authority.indexOf(']')
    return bracket < 0 ? authority.length : bracket + 1
  }
  const colon = authority.indexOf(':')
  return colon < 0 ? authority.length : colon
}
