// Which addresses a destination that a client chose may have. Asked about addresses that names led to, right before
// they are connected to, so that no name can lead elsewhere in between.
import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net'
import { networkInterfaces } from 'node:os'

export type AddressGuard = (address: string) => boolean

/** Never a destination of a client: this host, this link, nobody, everybody, and where clouds keep credentials. */
const DENIED: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '224.0.0.0/4',
  '255.255.255.255',
  // Metadata services outside of the link-local range.
  '100.100.100.200',
  '168.63.129.16',
  '::',
  '::1',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  'fd00:ec2::254',
  'fd20:ce::254',
]

/** Prefixes of IPv6 addresses that stand for an IPv4 address, and the word it begins at. */
const EMBEDDING: readonly (readonly [prefix: readonly number[], at: number])[] = [
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0, 0, 0, 0, 0xffff, 0], 6],
  [[0, 0, 0, 0, 0, 0], 6],
  [[0x64, 0xff9b, 0, 0, 0, 0], 6],
  [[0x64, 0xff9b, 1], 6],
  [[0x2002], 1],
]

/**
 * `allowed`: addresses and networks that are admitted in spite of the rule. The proxy's own addresses are not: a
 * request to itself would never end.
 */
export function addressGuard(allowed: readonly string[], own: readonly string[] = ownAddresses()): AddressGuard {
  const denies = listOf([...DENIED, ...own])
  const allows = listOf(allowed)
  return (address) => formsOf(address).every((form) => !holds(denies, form)) || holds(allows, address)
}

/** Whether it can stand in the list of allowed addresses. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  if (rest.length > 0 || (!isIPv4(address) && !isIPv6(address))) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv4(address) ? 32 : 128))
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? [])
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

function holds(list: BlockList, address: string): boolean {
  return list.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

/** The address, and the IPv4 addresses that gateways of the network would make of it. */
function formsOf(address: string): string[] {
  if (isIPv4(address)) return [address]
  const words = wordsOf(address)
  const embedded = EMBEDDING.filter(([prefix]) => prefix.every((word, index) => words[index] === word)).map(([, at]) =>
    [words[at] ?? 0, words[at + 1] ?? 0].flatMap((word) => [word >> 8, word & 0xff]).join('.'),
  )
  return [address, ...embedded]
}

/** The eight words of an IPv6 address. */
function wordsOf(address: string): number[] {
  const text = new SocketAddress({ address: address.replace(/%.*$/, ''), family: 'ipv6' }).address
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text)
  const [head = '', tail = ''] = (dotted?.[1]?.replace(/([^:]):$/, '$1') ?? text).split('::')
  const parse = (part: string): number[] =>
    part
      .split(':')
      .filter((word) => word !== '')
      .map((word) => Number.parseInt(word, 16))
  const last = dotted === null ? [] : [pair(dotted[2], dotted[3]), pair(dotted[4], dotted[5])]
  const [before, after] = [parse(head), [...parse(tail), ...last]]
  return text.includes('::')
    ? [...before, ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => 0), ...after]
    : [...before, ...after]
}

function pair(high: string | undefined, low: string | undefined): number {
  return (Number(high) << 8) | Number(low)
}
