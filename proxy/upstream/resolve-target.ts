// From a target to the addresses that are connected to. What a guard does not admit is never tried.
import { admitsUnresolved } from '#api/net/unresolved-host.ts'
import { at, type Detail } from '../exchange/diagnosis.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { DeadlineWheel, Expiring } from '../socket/deadlines.ts'
import { ALLOW_ADDRESSES, ALLOW_UNIX_PATHS } from './backend-guard.ts'
import type { DnsCache } from './dns-cache.ts'
import type { UpstreamTarget } from './target.ts'

type ResolveFailure = Extract<FailureCode, 'dnsFailure' | 'destinationDenied' | 'addressDenied'>

export type ResolvedTarget =
  | { readonly addresses: readonly string[] }
  | { readonly code: ResolveFailure; readonly detail: string }

/** A unix socket has no address: one attempt. */
const UNIX: ResolvedTarget = { addresses: [''] }

/** `dns` is for targets without a guard of their own, which brings its own names. */
export function resolveTarget(target: UpstreamTarget, dns: DnsCache, done: (resolved: ResolvedTarget) => void): void {
  const { host, unixPath, guard } = target
  if (unixPath !== undefined) {
    const isAdmitted = dns.guard === undefined || dns.guard.admitsPath(unixPath)
    done(isAdmitted ? UNIX : { code: 'addressDenied', detail: notAllowed(`unix path ${unixPath}`, ALLOW_UNIX_PATHS) })
    return
  }
  if (guard !== undefined && !admitsUnresolved(host, guard.admits)) {
    done({ code: 'destinationDenied', detail: `${host} names this host or a metadata service` })
    return
  }
  ;(guard?.dns ?? dns).resolve(host, (addresses, error) => {
    if (addresses.length === 0) {
      done({ code: 'dnsFailure', detail: `${host}: ${error?.message ?? 'no address'}` })
      return
    }
    const admitted = admittedOf(target, addresses, dns)
    if (admitted.length > 0) done({ addresses: admitted })
    else if (guard !== undefined)
      done({ code: 'destinationDenied', detail: `${host} resolves to ${addresses.join(', ')}` })
    else done({ code: 'addressDenied', detail: deniedAddress(host, addresses) })
  })
}

function admittedOf(
  { guard, namedBy }: UpstreamTarget,
  addresses: readonly string[],
  { guard: ofProcess }: DnsCache,
): readonly string[] {
  if (guard !== undefined) return addresses.filter((address) => guard.admits(address))
  if (ofProcess === undefined) return addresses
  return addresses.filter((address) => ofProcess.admits(address, namedBy))
}

/** Users of one address share its connections, so that what opens them cannot name the backend. */
export function forBackend(name: string | undefined, code: FailureCode, detail: Detail): Detail {
  return code === 'addressDenied' && name !== undefined ? at(`backend ${name}`, detail) : detail
}

/** For the log: which address it is, and what an administrator can do. */
export function deniedAddress(host: string, addresses: readonly string[]): string {
  const all = addresses.join(', ')
  return notAllowed(`address ${all === host ? host : `${all} of ${host}`}`, ALLOW_ADDRESSES)
}

function notAllowed(what: string, setting: string): string {
  return `${what} is not allowed for backends; allow it with ${setting}`
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
