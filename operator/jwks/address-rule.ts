// Addresses that keys are never fetched from, although users may name any host: those that mean something else inside
// this process than outside, and those of cloud metadata services.
import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { BlockList, isIP } from 'node:net'

export interface AddressRule {
  /** Loopback addresses: for a process that runs beside the servers it asks (`gw run`), never in a cluster. */
  readonly isLoopbackAllowed: boolean
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

const NEVER = new BlockList()
NEVER.addSubnet('0.0.0.0', 8, 'ipv4')
NEVER.addAddress('::', 'ipv6')
// Link-local addresses hold the metadata services of the clouds; these two lie elsewhere.
NEVER.addSubnet('169.254.0.0', 16, 'ipv4')
NEVER.addSubnet('fe80::', 10, 'ipv6')
NEVER.addAddress('fd00:ec2::254', 'ipv6')
NEVER.addAddress('100.100.100.200', 'ipv4')
// Multicast and broadcast.
NEVER.addSubnet('224.0.0.0', 3, 'ipv4')
NEVER.addSubnet('ff00::', 8, 'ipv6')

/** `address` is one, not a name. IPv4 addresses written as IPv6 count as what they are. */
export function isAllowed(address: string, { isLoopbackAllowed }: AddressRule): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  return !NEVER.check(address, family) && (isLoopbackAllowed || !LOOPBACK.check(address, family))
}

type Answer = (error: Error | null, addresses: LookupAddress[]) => void

/** For `net.connect`: checked are the addresses that are then connected to, so a name cannot change in between. */
export function guardedLookup(rule: AddressRule) {
  return (host: string, options: Omit<LookupAllOptions, 'all'>, answer: Answer): void => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return answer(error, [])
      const allowed = addresses.filter(({ address }) => isAllowed(address, rule))
      return allowed.length === 0 ? answer(new Error(refusal(host)), []) : answer(null, allowed)
    })
  }
}

export function refusal(host: string): string {
  return `${host} is an address that keys are not fetched from (loopback, link-local, metadata or multicast)`
}
