// How the proxies of a Gateway share the ConfigMaps of acknowledgements: with many proxies, few acknowledge at once,
// the others later, and each ConfigMap belongs to a part of them. Operator and proxy follow the same rules. Pure.
import { createHash } from 'node:crypto'

/** Up to this number of proxies, one ConfigMap and a short delay are enough. */
const PROXIES_OF_SHARD = 64
/** Names in the Role of each proxy. */
export const ACKNOWLEDGEMENT_SHARDS_MAX = 32
/** Proxies that acknowledge at once what conditions depend on. */
const FIRST_PROXIES = 16
/** Time for the write of one proxy, in ms: 40 writes per second, twice that for changes that are not urgent. */
const WRITE_MS = 25

/**
 * The number of proxies in the index of a delivery: a power of two, so that it seldom changes. It falls only when less
 * than a quarter of it is left. Undefined: so few that one ConfigMap is enough.
 */
export function announcedProxies(pods: number, announced: number | undefined): number | undefined {
  if (announced !== undefined && pods <= announced && pods > announced / 4) return announced
  return pods <= PROXIES_OF_SHARD ? undefined : 2 ** Math.ceil(Math.log2(pods))
}

/** For the number of proxies in the index. */
export function shardCount(proxies: number | undefined): number {
  return Math.min(ACKNOWLEDGEMENT_SHARDS_MAX, Math.max(1, Math.ceil((proxies ?? 0) / PROXIES_OF_SHARD)))
}

/** The ConfigMap of a pod, from 0. */
export function shardOf(pod: string, proxies: number | undefined): number {
  const count = shardCount(proxies)
  return count === 1 ? 0 : placeOf(pod) % count
}

/** Whether a pod acknowledges at once what conditions depend on. */
export function isFirst(pod: string, proxies: number | undefined): boolean {
  return proxies === undefined || placeOf(pod) % Math.ceil(proxies / FIRST_PROXIES) === 0
}

/** In which all proxies acknowledge a change. */
export function windowMs(proxies: number | undefined): number {
  return (proxies ?? 0) * WRITE_MS
}

function placeOf(pod: string): number {
  return createHash('sha256').update(pod).digest().readUInt32BE()
}
