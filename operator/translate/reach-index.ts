// Which Gateways reach a Service or backend: the inverse of what each Gateway reaches, updated with changed Gateways.
import { isIdentical } from '#api/incremental/identical.ts'
import { lowerBound } from '#api/incremental/lower-bound.ts'
import type { Memory } from './memory.ts'
import { backendTarget, NO_PORTS, NOTHING_REACHED, type Reach, serviceTarget } from './reach.ts'
import { isSameSet } from './same.ts'

export interface ReachLookup {
  /** Keys of the Gateways that reach the host, on the port if one is named; older Gateways first. */
  readonly service: (hostname: string, port?: number) => readonly string[]
  readonly backend: (key: string) => readonly string[]
}

export interface Reaching {
  readonly gateway: string
  /** Of a Service; empty for a backend. */
  readonly ports: ReadonlySet<number>
}

export interface ReachingAt {
  /** Of a Service or backend (`serviceTarget`, `backendTarget`); older Gateways first. The same list while it is. */
  readonly at: (target: string) => readonly Reaching[]
}

const NONE: readonly Reaching[] = []

class ReachIndex {
  #reach: ReadonlyMap<string, Reach> = new Map()
  #ranks: ReadonlyMap<string, number> = new Map()
  readonly #reaching = new Map<string, readonly Reaching[]>()
  #lastOnly: readonly Reaching[] = NONE

  /** Keys of targets whose Gateways have changed. */
  enter(reach: ReadonlyMap<string, Reach>): ReadonlySet<string> {
    const touched = new Set<string>()
    const last = this.#reach
    if (last === reach) return touched
    const isReordered = !isIdentical(
      [...last.keys()].filter((key) => reach.has(key)),
      [...reach.keys()].filter((key) => last.has(key)),
    )
    this.#ranks = new Map([...reach.keys()].map((key, rank) => [key, rank]))
    for (const [key, earlier] of last) {
      if (isReordered || !reach.has(key)) this.#move(key, { earlier, now: NOTHING_REACHED }, touched)
    }
    for (const [key, now] of reach) {
      const earlier = isReordered ? undefined : last.get(key)
      if (earlier !== now) this.#move(key, { earlier: earlier ?? NOTHING_REACHED, now }, touched)
    }
    this.#reach = reach
    return touched
  }

  /** The same list while it has not changed. */
  at(target: string): readonly Reaching[] {
    return this.#reaching.get(target) ?? NONE
  }

  #move(gateway: string, { earlier, now }: Record<'earlier' | 'now', Reach>, touched: Set<string>): void {
    const set = (target: string, ports: ReadonlySet<number> | undefined): void => {
      touched.add(target)
      const others = this.at(target).filter((one) => one.gateway !== gateway)
      if (others.length === 0 && ports !== undefined) {
        this.#reaching.set(target, this.#only({ gateway, ports }))
        return
      }
      if (ports !== undefined) others.splice(this.#placeOf(gateway, others), 0, { gateway, ports })
      if (others.length === 0) this.#reaching.delete(target)
      else this.#reaching.set(target, others)
    }
    for (const [host, ports] of now.services.since(earlier.services)) {
      const known = earlier.services.get(host)
      if (ports === undefined || known === undefined || !isSameSet(known, ports)) set(serviceTarget(host), ports)
    }
    for (const [key, isThere] of now.backends.since(earlier.backends)) {
      set(backendTarget(key), isThere === undefined ? undefined : NO_PORTS)
    }
  }

  /** One list for all Services that only this Gateway reaches, on the same port. */
  #only(one: Reaching): readonly Reaching[] {
    const [last] = this.#lastOnly
    if (last?.gateway !== one.gateway || last.ports !== one.ports) this.#lastOnly = [one]
    return this.#lastOnly
  }

  #placeOf(gateway: string, others: readonly Reaching[]): number {
    const rank = this.#ranks.get(gateway) ?? 0
    return lowerBound(others.length, (at) => (this.#ranks.get(others[at]?.gateway ?? '') ?? 0) < rank)
  }
}

export function reachLookup(at: ReachingAt['at']): ReachLookup {
  return {
    service: (hostname, port) =>
      at(serviceTarget(hostname)).flatMap(({ gateway, ports }) =>
        port === undefined || ports.has(port) ? [gateway] : [],
      ),
    backend: (key) => at(backendTarget(key)).map(({ gateway }) => gateway),
  }
}

/** For code whose results are kept. `enter`: from now on lookups read this. */
export function trackedReach(
  memory: Memory,
): ReachLookup & ReachingAt & { readonly enter: (reach: ReadonlyMap<string, Reach>) => void } {
  const source = memory.source()
  const index = new ReachIndex()
  const reachingAt = (target: string): readonly Reaching[] => index.at(target)
  const at = (target: string): readonly Reaching[] => memory.read(source, reachingAt, target)
  return {
    at,
    ...reachLookup(at),
    enter(reach) {
      const touched = index.enter(reach)
      if (touched.size > 0) memory.changed(source, [...touched])
    },
  }
}
