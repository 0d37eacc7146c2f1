// Where backends may not lead in a cluster, because those who write routes are not those who run the proxy: to
// addresses and unix sockets of this pod, its node or the cloud's metadata. Asked when a connection is opened, never
// for a request.
import { addressGuard, ownAddresses } from '#api/net/address-guard.ts'
import { isBelow, isUnixPath } from '#api/net/unix-path.ts'

/**
 * Who says that a backend is at an address. undefined: users who write routes, backends or policies. `Service`: the
 * cluster, of an endpoint. `Process`: the environment of this process.
 */
export type NamedBy = 'Service' | 'Process' | undefined

export interface BackendGuard {
  admits(address: string, namedBy: NamedBy): boolean
  admitsPath(unixPath: string): boolean
}

export interface BackendExceptions {
  /** Addresses and networks. */
  readonly addresses: readonly string[]
  /** Sockets, and folders whose sockets are admitted; absolute. */
  readonly unixPaths: readonly string[]
}

export const ALLOW_ADDRESSES = 'GW_BACKEND_ALLOW_ADDRESSES'
export const ALLOW_UNIX_PATHS = 'GW_BACKEND_ALLOW_UNIX_PATHS'

export function backendGuard(
  { addresses, unixPaths }: BackendExceptions,
  own: readonly string[] = ownAddresses(),
): BackendGuard {
  const ofUsers = addressGuard({ allowed: addresses, own })
  // A Service may have this very pod among its endpoints.
  const ofServices = addressGuard({ allowed: addresses, own: [] })
  return {
    admits: (address, namedBy) => namedBy === 'Process' || (namedBy === 'Service' ? ofServices : ofUsers)(address),
    // A path that is written in another way than it is read is meant to deceive.
    admitsPath: (unixPath) => isUnixPath(unixPath) && unixPaths.some((folder) => isBelow(unixPath, folder)),
  }
}
