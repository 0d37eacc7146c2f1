// From a target to the addresses that are connected to. What a guard does not admit is never tried.
import type { FailureCode } from '../errors.ts'
import type { DnsCache } from './dns-cache.ts'
import type { UpstreamTarget } from './target.ts'

export type ResolvedTarget =
  | { readonly addresses: readonly string[] }
  | { readonly code: Extract<FailureCode, 'dnsFailure' | 'destinationDenied'>; readonly detail: string }

/** Not for unix sockets. `dns` is for targets without a guard, which brings its own. */
export function resolveTarget(
  { host, guard }: UpstreamTarget,
  dns: DnsCache,
  done: (resolved: ResolvedTarget) => void,
): void {
  ;(guard?.dns ?? dns).resolve(host, (addresses, error) => {
    if (addresses.length === 0) {
      done({ code: 'dnsFailure', detail: `${host}: ${error?.message ?? 'no address'}` })
      return
    }
    const admitted = guard === undefined ? addresses : addresses.filter((address) => guard.admits(address))
    if (admitted.length > 0) done({ addresses: admitted })
    else done({ code: 'destinationDenied', detail: `${host} leads to ${addresses.join(', ')}` })
  })
}
