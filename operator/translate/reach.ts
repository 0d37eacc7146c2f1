// What each Gateway can reach: the Services and backends its routes refer to, directly or through other backends and
// policies. Only that is delivered to it, and only policies on it take effect there.
import { LayeredMap } from '#api/incremental/layered-map.ts'
import { SharedTexts } from '#api/incremental/shared-texts.ts'
import { isSameSet } from './same.ts'
import type { References } from './references.ts'
import type { DeliveredBackend } from './delivered-backend.ts'

/** Versions share unchanged parts. The same object while nothing in it has changed. In no order. */
export interface Reach {
  /** Host name to ports. */
  readonly services: LayeredMap<ReadonlySet<number>>
  /** Keys of GwBackends. */
  readonly backends: LayeredMap<true>
}

/** What references lead to. In no order. */
export interface Followed {
  readonly services: ReadonlyMap<string, ReadonlySet<number>>
  readonly backends: ReadonlySet<string>
}

export interface Following extends Followed {
  readonly services: Map<string, ReadonlySet<number>>
  readonly backends: Set<string>
}

export const NO_BACKENDS = LayeredMap.of<true>()

export const NOTHING_REACHED: Reach = { services: LayeredMap.of(), backends: NO_BACKENDS }
export const NOTHING_FOLLOWED: Followed = { services: new Map(), backends: new Set() }

export function isSameFollowed(a: Followed, b: Followed): boolean {
  if (a === b) return true
  if (a.services.size !== b.services.size || !isSameSet(a.backends, b.backends)) return false
  for (const [host, ports] of a.services) {
    const other = b.services.get(host)
    if (other === undefined || !isSameSet(ports, other)) return false
  }
  return true
}

const TARGETS = new SharedTexts()

/** A Service or backend as a key. */
export function serviceTarget(hostname: string): string {
  return TARGETS.of(`service ${hostname}`)
}

export function backendTarget(key: string): string {
  return TARGETS.of(`backend ${key}`)
}

/** Adds what the references lead to; `note` gets what is new. Cycles are fine: each backend is followed once. */
export function follow(
  references: References,
  { services, backends: followed }: Following,
  backends: ReadonlyMap<string, DeliveredBackend>,
  note?: (target: string, ports: ReadonlySet<number>) => void,
): void {
  const pending = [references]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const { hostname, port } of next.services) {
      const ports = services.get(hostname) ?? NO_PORTS
      if (ports.has(port)) continue
      const now = withPort(ports, port)
      services.set(hostname, now)
      note?.(serviceTarget(hostname), now)
    }
    for (const key of next.backends) {
      const backend = backends.get(key)
      if (backend === undefined || followed.has(key)) continue
      followed.add(key)
      note?.(backendTarget(key), NO_PORTS)
      pending.push(backend.references)
    }
  }
}

// Sets of ports are shared, and never changed.

export const NO_PORTS: ReadonlySet<number> = new Set()

/** By port; bounded by the number of ports. Most Services are reached on one. */
const ONLY_PORT = new Map<number, ReadonlySet<number>>()

function portSet(ports: ReadonlySet<number>): ReadonlySet<number> {
  const [first] = ports
  if (first === undefined) return NO_PORTS
  if (ports.size > 1) return ports
  const known = ONLY_PORT.get(first) ?? ports
  ONLY_PORT.set(first, known)
  return known
}

export function withPort(ports: ReadonlySet<number>, port: number): ReadonlySet<number> {
  return ports.has(port) ? ports : portSet(new Set([...ports, port]))
}

export function withoutPort(ports: ReadonlySet<number>, port: number): ReadonlySet<number> {
  return ports.has(port) ? portSet(new Set([...ports].filter((one) => one !== port))) : ports
}
