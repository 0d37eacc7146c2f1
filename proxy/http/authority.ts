// Splits an authority (`host`, `host:port`, `[v6]:port`) into its parts. Allocates only the part that is asked for.

const DOT = 0x2e

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
  const end = hostEnd(authority)
  const hasRootDot = end > 1 && authority.charCodeAt(end - 1) === DOT
  return withoutDefaultPort(hasRootDot ? authority.slice(0, end - 1) + authority.slice(end) : authority, isTls)
}

/** Without the port that the scheme stands for anyway (RFC 9110 section 4.2.3). Of a valid authority. */
export function withoutDefaultPort(authority: string, isTls: boolean): string {
  const port = isTls ? ':443' : ':80'
  return authority.endsWith(port) ? authority.slice(0, -port.length) : authority
}

/** Index of the colon before the port, or the length when there is none. */
function hostEnd(authority: string): number {
  if (authority.charCodeAt(0) === 0x5b) {
    const bracket = authority.indexOf(']')
    return bracket < 0 ? authority.length : bracket + 1
  }
  const colon = authority.indexOf(':')
  return colon < 0 ? authority.length : colon
}
