// From a target to the addresses that are connected to. What a guard does not admit is never tried.
import type { FailureCode } from '../errors.ts'
import type { DeadlineWheel, Expiring } from '../http/deadlines.ts'
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

export interface InTime {
  readonly dns: DnsCache
  readonly wheel: DeadlineWheel
  readonly deadlineMs: number
}

/** As above, for those who have no deadline of their own: the name is part of the time that a connection may take. */
export function resolveInTime(
  target: UpstreamTarget,
  { dns, wheel, deadlineMs }: InTime,
  done: (resolved: ResolvedTarget | NameTimeout) => void,
): void {
  let isOver = false
  let slot: number | undefined
  const finish = (resolved: ResolvedTarget | NameTimeout): void => {
    if (isOver) return
    isOver = true
    if (slot !== undefined) wheel.remove(waiting, slot)
    done(resolved)
  }
  const waiting: Expiring = {
    expired: () =>
      finish({ code: 'upstreamTimeout', detail: `${target.host}: connect timeout, no name server answered` }),
  }
  resolveTarget(target, dns, finish)
  // Names that are known call back at once.
  if (!isOver) slot = wheel.add(waiting, deadlineMs)
}

interface NameTimeout {
  readonly code: Extract<FailureCode, 'upstreamTimeout'>
  readonly detail: string
}
