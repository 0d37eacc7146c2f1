// Which hosts that a client chose may be sent to a proxy on the way, which resolves them itself. Checks addresses in
// any spelling, and names that every cloud or host gives to denied addresses.
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { AddressGuard } from './address-guard.ts'

const LOOPBACK = '127.0.0.1'
const METADATA = '169.254.169.254'
/** Names that resolvers know by themselves, or that clouds have for their metadata service. */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  ['localhost', LOOPBACK],
  ['localhost.localdomain', LOOPBACK],
  ['localhost4', LOOPBACK],
  ['localhost4.localdomain4', LOOPBACK],
  ['localhost6', LOOPBACK],
  ['localhost6.localdomain6', LOOPBACK],
  ['ip6-localhost', LOOPBACK],
  ['ip6-loopback', LOOPBACK],
  ['ip6-allnodes', 'ff02::1'],
  ['ip6-allrouters', 'ff02::2'],
  ['metadata', METADATA],
  ['metadata.google.internal', METADATA],
  ['metadata.goog', METADATA],
  ['instance-data', METADATA],
  ['instance-data.ec2.internal', METADATA],
  ['metadata.tencentyun.com', METADATA],
  ['metadata.platformequinix.com', METADATA],
  ['metadata.packet.net', METADATA],
])
/** No name ends so: there is no such top-level domain. Resolvers of C libraries take it for an IPv4 address. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/
const PARTS_MAX = 4
const ASCII = /^[\0-\x7f]*$/
/** One is the root; some resolvers do not mind more. */
const ROOT_DOTS = /\.{1,4}$/
const PART = /^(?:0|[1-9]\d{0,9}|0x[0-9a-f]{1,8})$/

export function admitsUnresolved(host: string, admits: AddressGuard): boolean {
  const ascii = ASCII.test(host) ? host : domainToASCII(host)
  // Characters that no name contains.
  if (ascii === '') return false
  const name = ascii.replace(ROOT_DOTS, '').toLowerCase()
  if (isIP(name) !== 0) return admits(name)
  const known = WELL_KNOWN.get(name) ?? (name.endsWith('.localhost') ? LOOPBACK : undefined)
  if (known !== undefined) return admits(known)
  if (!ENDS_IN_NUMBER.test(name)) return true
  const address = numericAddress(name)
  return address !== undefined && admits(address)
}

/**
 * `2130706433`, `127.1`, `0x7f.0.0.1`: one to four numbers; the last one fills the remaining bytes. A leading zero
 * means octal to some parsers and nothing to others: undefined, as for every text that is not an address.
 */
function numericAddress(name: string): string | undefined {
  const parts = name.split('.')
  if (parts.length > PARTS_MAX || !parts.every((part) => PART.test(part))) return undefined
  const numbers = parts.map(Number)
  const last = numbers.pop() ?? 0
  if (numbers.some((number) => number > 0xff) || last >= 256 ** (PARTS_MAX - numbers.length)) return undefined
  const whole = numbers.reduce((sum, number, index) => sum + number * 256 ** (PARTS_MAX - 1 - index), last)
  return [24, 16, 8, 0].map((shift) => Math.floor(whole / 2 ** shift) % 256).join('.')
}
