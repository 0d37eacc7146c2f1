// IP addresses and ranges.
import { celError } from '../engine/errors.ts'
import { type CelFunction, global, method, noOverload, textArg } from '../engine/function-table.ts'
import { textOf } from '../engine/types.ts'
import { CelCidr, CelIp, parseCidr, parseIp } from '../values/ip.ts'

function toIp(value: unknown): CelIp {
  if (value instanceof CelIp) return value
  const parsed = parseIp(textArg(value, 'ip'))
  if (parsed === undefined) throw celError('ip(): not an IP address')
  return parsed
}

function toCidr(value: unknown): CelCidr {
  if (value instanceof CelCidr) return value
  const parsed = parseCidr(textArg(value, 'cidr'))
  if (parsed === undefined) throw celError('cidr(): not a range such as 10.0.0.0/8')
  return parsed
}

function ipMethod(name: string, read: (ip: CelIp) => unknown): CelFunction {
  return method(name, 1, (value) => {
    if (!(value instanceof CelIp)) throw noOverload(name, value)
    return read(value)
  })
}

function cidrArg(value: unknown, name: string): CelCidr {
  if (value instanceof CelCidr) return value
  throw noOverload(name, value)
}

/** Membership in a range that is written down here. */
function within(...ranges: readonly string[]): (ip: CelIp) => boolean {
  const parsed = ranges.map(toCidr)
  return (ip) => parsed.some((range) => range.containsIp(ip))
}

const isLoopback = within('127.0.0.0/8', '::1/128')
const isUnspecified = within('0.0.0.0/32', '::/128')
const isLinkLocalMulticast = within('224.0.0.0/24', 'ff02::/16')
const isLinkLocalUnicast = within('169.254.0.0/16', 'fe80::/10')
const isMulticast = within('224.0.0.0/4', 'ff00::/8')
const isBroadcast = within('255.255.255.255/32')

/** As the Go standard library defines it: private ranges count as global unicast. */
function isGlobalUnicast(ip: CelIp): boolean {
  return !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip) && !isBroadcast(ip)
}

export const NETWORK_FUNCTIONS: readonly CelFunction[] = [
  global('isIP', 1, (value) => parseIp(textArg(value, 'isIP')) !== undefined),
  global('ip', 1, toIp, { isStrict: true }),
  global('cidr', 1, toCidr, { isStrict: true }),
  global('isCIDR', 1, (value) => parseCidr(textArg(value, 'isCIDR')) !== undefined),
  ipMethod('family', (ip) => BigInt(ip.family)),
  ipMethod('isUnspecified', isUnspecified),
  ipMethod('isLoopback', isLoopback),
  ipMethod('isLinkLocalMulticast', isLinkLocalMulticast),
  ipMethod('isLinkLocalUnicast', isLinkLocalUnicast),
  ipMethod('isGlobalUnicast', isGlobalUnicast),
  method('containsIP', 2, (range, ip) => {
    if (!(ip instanceof CelIp) && textOf(ip) === undefined) throw noOverload('containsIP', range, ip)
    return cidrArg(range, 'containsIP').containsIp(toIp(ip))
  }),
  method('containsCIDR', 2, (range, other) => {
    if (!(other instanceof CelCidr) && textOf(other) === undefined) throw noOverload('containsCIDR', range, other)
    return cidrArg(range, 'containsCIDR').containsCidr(toCidr(other))
  }),
  method('ip', 1, (range) => cidrArg(range, 'ip').ip),
  method('masked', 1, (range) => cidrArg(range, 'masked').masked()),
  method('prefixLength', 1, (range) => BigInt(cidrArg(range, 'prefixLength').prefixLength)),
]
