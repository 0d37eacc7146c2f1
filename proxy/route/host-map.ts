// Hostname matching for listeners and routes: exact, then the longest wildcard, then entries without a hostname.
// Independent of ports and requests; the caller passes a lower-case host without port.

/** No DNS name is longer (RFC 1035 section 2.3.4), so longer hosts match neither names nor wildcards. */
const HOST_LENGTH_MAX = 253

/** One hostname with its value; `next` is the next less specific one that covers the same hosts. */
export interface HostLevel<T> {
  /** Lower case; `*.suffix` for wildcards, undefined for the level without a hostname. */
  readonly hostname: string | undefined
  readonly value: T
  readonly next: HostLevel<T> | undefined
}

export interface HostMap<T> {
  /** The most specific level for the host; follow `next` for the others. */
  find(host: string): HostLevel<T> | undefined
}

/**
 * `values` by hostname; undefined, the empty string and `*` all mean any host. A wildcard covers one or more labels:
 * `*.example.com` covers `a.b.example.com` and not `example.com`.
 */
export function buildHostMap<T>(values: ReadonlyMap<string | undefined, T>): HostMap<T> {
  const { exact, wildcards, any } = sortByKind(values)
  return hostMapOf({ exact: (host) => exact.get(host), wildcards, any })
}

export interface HostSource<T> {
  /** The value of a host name in lower case. */
  readonly exact: (host: string) => T | undefined
  /** By suffix with its leading dot. */
  readonly wildcards: ReadonlyMap<string, T>
  readonly any: T | undefined
}

/** For host names that are indexed elsewhere: nothing is built for a host without requests. */
export function hostMapOf<T>({ exact, wildcards, any: anyValue }: HostSource<T>): HostMap<T> {
  const any = anyValue === undefined ? undefined : { hostname: undefined, value: anyValue, next: undefined }
  const wildcardLevels = new Map<string, HostLevel<T>>()
  let suffixMax = 0
  // Shortest suffix first, so that the level that a wildcard falls back to exists.
  for (const [suffix, value] of [...wildcards].sort(([a], [b]) => a.length - b.length)) {
    const next = longestWildcard(wildcardLevels, suffix, 1, suffixMax) ?? any
    wildcardLevels.set(suffix, { hostname: `*${suffix}`, value, next })
    suffixMax = suffix.length
  }
  // Built on first use: most hosts of a configuration get no request before the next configuration.
  const exactLevels = new Map<string, HostLevel<T>>()
  const exactLevel = (host: string): HostLevel<T> | undefined => {
    const known = exactLevels.get(host)
    if (known !== undefined) return known
    const value = exact(host)
    if (value === undefined) return undefined
    const next = longestWildcard(wildcardLevels, host, 1, suffixMax) ?? any
    const level = { hostname: host, value, next }
    exactLevels.set(host, level)
    return level
  }
  return {
    find(host) {
      if (host.length > HOST_LENGTH_MAX) return any
      return exactLevel(host) ?? longestWildcard(wildcardLevels, host, 1, suffixMax) ?? any
    },
  }
}

/** `start` 1: the `*` must cover at least one character. */
function longestWildcard<T>(
  levels: ReadonlyMap<string, HostLevel<T>>,
  host: string,
  start: number,
  suffixMax: number,
): HostLevel<T> | undefined {
  if (levels.size === 0) return undefined
  let dot = host.indexOf('.', Math.max(start, host.length - suffixMax))
  while (dot >= 0) {
    const level = levels.get(host.slice(dot))
    if (level !== undefined) return level
    dot = host.indexOf('.', dot + 1)
  }
  return undefined
}

interface Sorted<T> {
  readonly exact: Map<string, T>
  readonly wildcards: Map<string, T>
  readonly any: T | undefined
}

function sortByKind<T>(values: ReadonlyMap<string | undefined, T>): Sorted<T> {
  const exact = new Map<string, T>()
  const wildcards = new Map<string, T>()
  let any: T | undefined
  for (const [hostname, value] of values) {
    const lower = hostname?.toLowerCase() ?? ''
    if (isAnyHost(lower)) any ??= value
    else if (lower.startsWith('*.')) wildcards.set(lower.slice(1), value)
    else exact.set(lower, value)
  }
  return { exact, wildcards, any }
}

export function isAnyHost(hostname: string | undefined): boolean {
  return hostname === undefined || hostname === '' || hostname === '*'
}
