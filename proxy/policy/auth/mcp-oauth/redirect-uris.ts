// Which redirect URIs of MCP clients are allowed. Pure. A code that is sent to an attacker's URI is a stolen account.

const CHARACTERS_MAX = 2048
/** Schemes that a browser runs or reads, or that name no application. */
const REFUSED_SCHEMES: ReadonlySet<string> = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'file:',
  'blob:',
  'about:',
  'view-source:',
  'ftp:',
  'ws:',
  'wss:',
])
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * `isProviderChecking`: the identity provider compares the URI with those of the client. Otherwise it gets the URI of
 * the gateway, and the gateway alone decides.
 */
export type RedirectRule = (uri: string, isProviderChecking: boolean) => boolean

/**
 * `listed`: URIs, compared exactly, but loopback ones with any port (RFC 8252 section 7.3), and those with `*` as the
 * last character by what is in front of it; `*` alone is any. undefined: loopback addresses, and all URIs that the
 * identity provider checks.
 */
export function redirectRule(listed: readonly string[] | undefined): RedirectRule {
  if (listed === undefined) return (uri, isProviderChecking) => isAbsolute(uri) && (isProviderChecking || isLocal(uri))
  const prefixes = listed.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1))
  const exact = new Set(listed.map(withoutLoopbackPort))
  return (uri) =>
    isRedirectUri(uri) && (exact.has(withoutLoopbackPort(uri)) || prefixes.some((prefix) => uri.startsWith(prefix)))
}

/** Whether an entry can be in the list: a prefix has a complete host, so that no other host begins with it. */
export function isRedirectEntry(entry: string): boolean {
  if (entry === '*') return true
  if (!entry.endsWith('*')) return isRedirectUri(entry)
  const prefix = entry.slice(0, -1)
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]+\//i.test(prefix) && isRedirectUri(prefix)
}

/** As `isAbsolute`, and not in clear text over a network. */
function isRedirectUri(uri: string): boolean {
  return isAbsolute(uri) && (!uri.toLowerCase().startsWith('http:') || isLocal(uri))
}

/** Absolute, without fragment and user, of a scheme that an application can have. */
function isAbsolute(uri: string): boolean {
  // The URL parser would drop control characters and turn backslashes; the browser gets the text as it is.
  if (uri.length > CHARACTERS_MAX || !/^[!-[\]-~]+$/.test(uri) || uri.includes('#')) return false
  const url = URL.parse(uri)
  return url !== null && !REFUSED_SCHEMES.has(url.protocol) && url.username === '' && url.password === ''
}

function isLocal(uri: string): boolean {
  const url = URL.parse(uri)
  return url !== null && ['http:', 'https:'].includes(url.protocol) && LOOPBACK.has(url.hostname)
}

function withoutLoopbackPort(uri: string): string {
  if (!isLocal(uri)) return uri
  const url = new URL(uri)
  url.port = ''
  return url.href
}
