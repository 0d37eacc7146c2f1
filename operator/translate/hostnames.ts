// Hostname rules of Gateway API: exact names, `*.suffix` for one or more labels, nothing for every host.

/** Whether some host satisfies both. Undefined or empty means every host. */
export function hostnamesIntersect(a: string | undefined, b: string | undefined): boolean {
  if (isAny(a) || isAny(b)) return true
  const left = a.toLowerCase()
  const right = b.toLowerCase()
  if (left.startsWith('*.') && right.startsWith('*.')) {
    return left.endsWith(right.slice(1)) || right.endsWith(left.slice(1))
  }
  if (left.startsWith('*.')) return isBelow(right, left)
  if (right.startsWith('*.')) return isBelow(left, right)
  return left === right
}

/** The names that a route with these names serves at a listener, in lower case; empty if both accept every host. */
export function commonHostnames(ofListener: string | undefined, ofRoute: readonly string[]): string[] {
  if (isAny(ofListener)) return ofRoute.map((name) => name.toLowerCase())
  const own = ofListener.toLowerCase()
  if (ofRoute.length === 0) return [own]
  return ofRoute.flatMap((name) => {
    const other = name.toLowerCase()
    if (!hostnamesIntersect(own, other)) return []
    // One includes the other, so the longer one is the narrower one; a name is at least as long as a wildcard.
    return own.startsWith('*.') && (!other.startsWith('*.') || other.length > own.length) ? [other] : [own]
  })
}

function isAny(hostname: string | undefined): hostname is undefined | '' {
  return hostname === undefined || hostname === ''
}

/** `a.b.example.com` and `b.example.com` are below `*.example.com`; `example.com` itself is not. */
function isBelow(exact: string, wildcard: string): boolean {
  const suffix = wildcard.slice(1)
  return exact.length > suffix.length && exact.endsWith(suffix)
}
