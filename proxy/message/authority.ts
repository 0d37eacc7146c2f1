// Splits an authority (`host`, `host:port`, `[v6]:port`) into its parts. Allocates only the part that is asked for.

import { isIPv6 } from 'node:net'

const DOT = 0x2e
const BRACKET = 0x5b
/** RFC 1035 section 2.3.4, without the dot of the root. */
const NAME_LENGTH_MAX = 253
/** Labels of 1 to 63 characters (RFC 1035 section 2.3.4), and perhaps the dot of the root. */
const NAME = /^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?$/
/** A port with a zero in front would be a second spelling of one; port 0 cannot be connected to. */
const PORT = /^:[1-9][0-9]{0,4}$/
const PORT_MAX = 65_535

/** A host, and perhaps a port. Names with empty or overlong labels are refused: no name server has them. */
export function isAuthority(authority: string): boolean {
  const end = hostEnd(authority)
  if (end < authority.length) {
    const port = authority.slice(end)
    if (!PORT.test(port) || Number(port.slice(1)) > PORT_MAX) return false
  }
  const host = end === authority.length ? authority : authority.slice(0, end)
  return host.charCodeAt(0) === BRACKET ? isLiteral(host) : isHostName(host)
}

/** An IPv6 address in brackets; zones mean nothing to another machine. */
function isLiteral(host: string): boolean {
  return host.endsWith(']') && !host.includes('%') && isIPv6(host.slice(1, -1))
}

/** A name, or an IPv4 address. */
export function isHostName(host: string): boolean {
  if (!NAME.test(host)) return false
  return host.length <= NAME_LENGTH_MAX || (host.length === NAME_LENGTH_MAX + 1 && host.endsWith('.'))
}

/** The host without port, lower case; brackets of IPv6 literals stay. */
export function hostOf(authority: string): string {
  const end = hostEnd(authority)
  return (end === authority.length ? authority : authority.slice(0, end)).toLowerCase()
}

/** The port if there is a valid one. */
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
 * One spelling for a valid authority in lower case: no port that the scheme implies, and no dot of the root at the end
 * of the host (RFC 1034 section 3.1), or `a.test.` would get around what holds for `a.test`.
 */
export function canonicalAuthority(authority: string, isTls: boolean): string {
  return withoutDefaultPort(withoutRootDot(authority), isTls)
}

/** For CONNECT, whose port belongs to the destination: the same spelling, with every port. */
export function withoutRootDot(authority: string): string {
  const end = hostEnd(authority)
  const hasRootDot = end > 1 && authority.charCodeAt(end - 1) === DOT
  return hasRootDot ? authority.slice(0, end - 1) + authority.slice(end) : authority
}

/** Without the port that the scheme stands for anyway (RFC 9110 section 4.2.3). Of a valid authority. */
export function withoutDefaultPort(authority: string, isTls: boolean): string {
  const port = isTls ? ':443' : ':80'
  return authority.endsWith(port) ? authority.slice(0, -port.length) : authority
}

/** Index of the colon before the port, or the length when there is none. */
function hostEnd(authority: string): number {
  if (authority.charCodeAt(0) === BRACKET) {
    const bracket = authority.indexOf(']')
    return bracket < 0 ? authority.length : bracket + 1
  }
  const colon = authority.indexOf(':')
  return colon < 0 ? authority.length : colon
}
