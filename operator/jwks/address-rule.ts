// The addresses from which keys may be fetched; users may name any host.
import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { isIP } from 'node:net'
import { type AddressGuard, addressGuard, LOOPBACK, ownAddresses } from '#api/net/address-guard.ts'
import { admitsUnresolved } from '#api/net/unresolved-host.ts'

export interface AddressRule {
  readonly admits: AddressGuard
  /** The setting with which an administrator allows an address; undefined: no setting allows it. */
  readonly setting: string | undefined
}

/** For a controller: the authors of policies are not its administrators. */
export function clusterRule(allowed: readonly string[]): AddressRule {
  return { admits: addressGuard({ allowed, own: ownAddresses() }), setting: 'GW_KEY_SET_ALLOW_ADDRESSES' }
}

/** For a process that runs beside the servers it calls (`gw run`). */
export const localRule: AddressRule = {
  admits: addressGuard({ allowed: LOOPBACK, own: [] }),
  setting: undefined,
}

/** For a host that a proxy on the way resolves. @throws {Error} with a text for people. */
export function checkUnresolved(host: string, rule: AddressRule): void {
  if (!admitsUnresolved(host, rule.admits)) throw refusal(host, [host], rule)
}

type Answer = (error: Error | null, addresses: LookupAddress[]) => void

/** For `net.connect`: checks exactly the addresses of the connection, so that a name cannot change in between. */
export function guardedLookup(rule: AddressRule) {
  return (host: string, options: Omit<LookupAllOptions, 'all'>, answer: Answer): void => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return answer(error, [])
      const allowed = addresses.filter(({ address }) => rule.admits(address))
      if (allowed.length > 0) return answer(null, allowed)
      const denied = addresses.map(({ address }) => address)
      return answer(refusal(host, denied, rule), [])
    })
  }
}

/** @throws {Error} with a text for people. Names are checked when they are resolved. */
export function checkLiteral(host: string, rule: AddressRule): void {
  if (isIP(host) !== 0 && !rule.admits(host)) throw refusal(host, [host], rule)
}

function refusal(host: string, addresses: readonly string[], { setting }: AddressRule): Error {
  const all = addresses.join(', ')
  const what = `address ${all === host ? host : `${all} of ${host}`} is not allowed for key sets`
  return new Error(setting === undefined ? what : `${what}; allow it with ${setting}`)
}
