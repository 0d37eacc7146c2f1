// Origins (RFC 6454) as CORS and CSRF compare them: scheme, lower-case host, port with 80 and 443 implied.
import { hostOf, portOf } from '../../message/authority.ts'

export interface Origin {
  readonly scheme: string
  readonly host: string
  /** undefined: the scheme has no default port and none is set. */
  readonly port: number | undefined
}

/** Longest scheme, `://`, longest host, port. */
const ORIGIN_LENGTH_MAX = 320

const ORIGIN = /^([a-z][a-z0-9+.-]{0,31}):\/\/([^\s/?#@\\:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i

/** undefined for `null`, for anything with a path or user, and for every other text that is not an origin. */
export function parseOrigin(text: string): Origin | undefined {
  if (text.length > ORIGIN_LENGTH_MAX) return undefined
  const match = ORIGIN.exec(text)
  if (match === null) return undefined
  const [, scheme = '', host = '', digits] = match
  const lowerScheme = scheme.toLowerCase()
  const port = digits === undefined ? defaultPort(lowerScheme) : Number(digits)
  return port !== undefined && (port < 1 || port > 65_535)
    ? undefined
    : { scheme: lowerScheme, host: host.toLowerCase(), port }
}

/** True when the origin is `scheme://authority` of the request. */
export function isOriginOf(origin: Origin, scheme: string, authority: string): boolean {
  return (
    origin.scheme === scheme &&
    origin.host === hostOf(authority) &&
    origin.port === (portOf(authority) ?? defaultPort(scheme))
  )
}

export function canonicalOrigin({ scheme, host, port }: Origin): string {
  return port === undefined ? `${scheme}://${host}` : `${scheme}://${host}:${port}`
}

function defaultPort(scheme: string): number | undefined {
  if (scheme === 'https') return 443
  return scheme === 'http' ? 80 : undefined
}

/** Cached answers of a list; a site has few origins, and a client that sends many only clears the cache. */
const ANSWERS_MAX = 256

/** Whether an Origin header value is one of a list. */
export type OriginTest = (text: string) => boolean

/** Entries are origins whose host may contain `*` (spanning dots), or `*` alone for every valid origin. */
export function compileOrigins(entries: readonly string[]): OriginTest {
  if (entries.includes('*')) return (text) => parseOrigin(text) !== undefined
  const verbatim = new Set<string>()
  const canonical = new Set<string>()
  const globs: OriginGlob[] = []
  for (const entry of entries) {
    const origin = parseOrigin(entry)
    if (origin === undefined) continue
    if (origin.host.includes('*')) globs.push({ origin, parts: origin.host.split('*') })
    else {
      verbatim.add(entry)
      canonical.add(canonicalOrigin(origin))
    }
  }
  const isListed = (text: string): boolean => {
    const origin = parseOrigin(text)
    if (origin === undefined || origin.host.includes('*')) return false
    return canonical.has(canonicalOrigin(origin)) || globs.some((glob) => matchesGlob(glob, origin))
  }
  const answers = new Map<string, boolean>()
  return (text) => {
    if (verbatim.has(text)) return true
    let answer = answers.get(text)
    if (answer === undefined) {
      answer = isListed(text)
      if (answers.size >= ANSWERS_MAX) answers.clear()
      // A copy: the text may be a slice that keeps a whole header block in memory.
      if (text.length <= ORIGIN_LENGTH_MAX) answers.set(Buffer.from(text, 'utf8').toString('utf8'), answer)
    }
    return answer
  }
}

interface OriginGlob {
  readonly origin: Origin
  /** Text between the stars of the host. */
  readonly parts: readonly string[]
}

function matchesGlob({ origin, parts }: OriginGlob, { scheme, host, port }: Origin): boolean {
  if (scheme !== origin.scheme || port !== origin.port) return false
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (!host.startsWith(first) || !host.endsWith(last) || host.length < first.length + last.length) return false
  const end = host.length - last.length
  let from = first.length
  for (let i = 1; i < parts.length - 1; i++) {
    const part = parts[i] ?? ''
    const at = host.indexOf(part, from)
    if (at < 0 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}
