// One spelling for each path, before anything looks at it: what is routed and authorised is what is sent on, and a
// backend that tidies up paths comes to no other one (RFC 3986 section 6.2.2; docs/adr/0009-request-paths.md).

/** Most paths have none of these, and stay as they are. */
const UNTIDY = /%|\\|\/\./
const ESCAPE = /%([0-9a-f]{2})?/gi
const UNRESERVED = /^[A-Za-z0-9\-._~]$/
/** A dot segment that shows only to who takes escaped slashes for slashes, or parameters off a segment. */
const HIDDEN_STEP = /(?:\/|%2f|%5c)\.{1,2}(?:;|%3b|%2f|%5c|\/|$)/i

/**
 * Escapes of unreserved characters are resolved, backslashes are slashes, dot segments are gone; `//`, parameters and
 * other escapes stay as they are. undefined: a broken escape, or a hidden dot segment. `path` begins with a slash.
 */
export function normalisedPath(path: string): string | undefined {
  if (!UNTIDY.test(path)) return path
  let isBroken = false
  const plain = path.replaceAll(ESCAPE, (escape: string, digits: string | undefined) => {
    if (digits === undefined) isBroken = true
    const character = String.fromCodePoint(parseInt(digits ?? '25', 16))
    return UNRESERVED.test(character) ? character : escape
  })
  if (isBroken) return undefined
  const result = withoutDotSegments(plain.replaceAll('\\', '/'))
  return HIDDEN_STEP.test(result) ? undefined : result
}

/** RFC 3986 section 5.2.4. Steps above the root stay there. */
function withoutDotSegments(path: string): string {
  if (!path.includes('/.')) return path
  const kept: string[] = []
  const segments = path.split('/').slice(1)
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  const last = segments.at(-1)
  // `/a/..` and `/a/.` name a folder.
  if (last === '.' || last === '..') kept.push('')
  return `/${kept.join('/')}`
}
