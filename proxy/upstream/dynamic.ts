// What dynamic forward proxies of one worker share: connections and names of their own, so that destinations that
// clients choose never take the room of configured backends.
import { type AddressGuard, addressGuard, ownAddresses } from '#api/net/address-guard.ts'
import { createUpstreamClient, type HttpUpstreamClient } from './client.ts'
import type { ConnectObserver } from './connect-observer.ts'
import { CONNECTION_DEFAULTS, type ConnectionDefaults } from './connection-defaults.ts'
import { DnsCache } from './dns-cache.ts'
import { resolverLookup } from './resolver-lookup.ts'
import type { TargetGuard } from './target.ts'

export interface DynamicForwarding {
  readonly client: HttpUpstreamClient
  readonly guard: TargetGuard
}

const LIMITS = {
  idlePerTargetMax: 16,
  openPerTargetMax: 1024,
  openMax: 4096,
  idleTimeoutMs: 30_000,
  targetsMax: 1024,
} as const

interface DynamicParts {
  /** Of the destinations: name servers alone, never the hosts file. */
  readonly names?: DnsCache
  /** Of proxies that a policy names on the way to them. */
  readonly dns?: DnsCache
  readonly admits?: AddressGuard
  readonly connected?: ConnectObserver
  /** Those of this worker; they can only lower the limits above. */
  readonly connections?: ConnectionDefaults | undefined
}

/** `allowed`: see api/net/address-guard.ts. */
export function dynamicForwarding(
  allowed: readonly string[],
  {
    names = new DnsCache(resolverLookup()),
    dns = new DnsCache(),
    admits = addressGuard({ allowed, own: ownAddresses() }),
    connected,
    connections = CONNECTION_DEFAULTS,
  }: DynamicParts = {},
): DynamicForwarding {
  const limits = {
    ...LIMITS,
    idlePerTargetMax: Math.min(LIMITS.idlePerTargetMax, connections.idleMax ?? Infinity),
    idleTimeoutMs: Math.min(LIMITS.idleTimeoutMs, connections.idleTimeoutMs),
  }
  return { client: createUpstreamClient({ limits, dns, connected }), guard: { dns: names, admits } }
}
