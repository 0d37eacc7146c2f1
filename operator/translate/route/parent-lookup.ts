// Parents of routes and models, behind lookups that stay the same from one translation to the next.
import type { OurGateways } from '../gateway/gateways.ts'
import type { Memory } from '../memory.ts'

/** The Gateways and ListenerSets that a parentRef may name. */
export type ParentLookup = { readonly [K in keyof OurGateways]: Pick<OurGateways[K], 'get'> }

/** `enter`: from now on lookups read these. */
export function parentLookup(memory: Memory): ParentLookup & { readonly enter: (gateways: OurGateways) => void } {
  const source = memory.source()
  let now: OurGateways = { gateways: new Map(), listenerSets: new Map() }
  return {
    gateways: { get: (key) => memory.read(source, () => now.gateways.get(key)) },
    listenerSets: { get: (key) => memory.read(source, () => now.listenerSets.get(key)) },
    enter: (next) => {
      const isSame = isSameMap(now.gateways, next.gateways) && isSameMap(now.listenerSets, next.listenerSets)
      if (!isSame) memory.changed(source)
      now = next
    },
  }
}

function isSameMap(a: ReadonlyMap<string, object>, b: ReadonlyMap<string, object>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
}
