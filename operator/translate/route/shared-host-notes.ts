// Adds the results of shared-hosts.ts to their routes and ListenerSets. Others stay the same objects.
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import type { OurGateways } from '../gateway/gateways.ts'
import { derived, type Memory } from '../memory.ts'
import { describe, refOf } from '../object-ref.ts'
import type { AttachedRoute } from './routes.ts'
import { SharedHosts } from './shared-hosts.ts'

export interface SharedHostNotes {
  enter(routes: readonly AttachedRoute[], gateways: OurGateways): void
  withLines(routes: readonly AttachedRoute[]): readonly AttachedRoute[]
  /** The same function while no text has changed. */
  readonly ofSet: (set: ListenerSet) => string
}

export function sharedHostNotes(memory: Memory): SharedHostNotes {
  const source = memory.source()
  const hosts = new SharedHosts()
  const textOf = (owner: string): string => hosts.textOf(owner)
  const listenersOf = derived(({ gateways }: OurGateways) =>
    [...gateways.values()].flatMap(({ listeners }) => listeners.map(({ forRoutes }) => forRoutes)),
  )
  const textOfSets = (): SharedHostNotes['ofSet'] => (set) => hosts.textOf(describe(refOf(set)))
  let ofSet = textOfSets()
  return {
    enter(routes, gateways) {
      const changed = hosts.enter(routes, listenersOf(gateways))
      if (changed.size === 0) return
      memory.changed(source, [...changed])
      ofSet = textOfSets()
    },
    withLines: memory.list((attached: AttachedRoute): AttachedRoute => {
      const owner = describe(refOf(attached.route))
      const sharedHosts = memory.read(source, textOf, owner)
      return sharedHosts === '' ? attached : { ...attached, sharedHosts }
    }),
    get ofSet() {
      return ofSet
    },
  }
}
