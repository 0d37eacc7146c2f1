// Items by host name, for look-ups of the router.
import { isAnyHost } from './host-map.ts'

export interface HostIndex<S> {
  /** In order; the same list while it has the same items. Empty: no items. */
  readonly at: (hostKey: string) => readonly S[]
  /** Keys of host names with a wildcard. */
  readonly wildcards: readonly string[]
}

export const ANY_HOST = ''

/** In lower case; ANY_HOST for all. */
export function hostKeysOf(hostnames: readonly string[]): readonly string[] {
  return hostnames.length === 0 ? [ANY_HOST] : hostnames.map((one) => (isAnyHost(one) ? ANY_HOST : one.toLowerCase()))
}

export function isWildcard(hostKey: string): boolean {
  return hostKey.startsWith('*.')
}

export function hostIndexOf<S extends { readonly hostnames: readonly string[] }>(items: readonly S[]): HostIndex<S> {
  const groups = new Map<string, S[]>()
  for (const item of items) {
    for (const key of new Set(hostKeysOf(item.hostnames))) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [item])
      else group.push(item)
    }
  }
  return { at: (key) => groups.get(key) ?? [], wildcards: [...groups.keys()].filter(isWildcard) }
}
