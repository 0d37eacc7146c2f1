// The one list of addresses to which text of users or clients must not send a request: this host, this link, the
// unspecified and multicast addresses, and the metadata addresses of clouds. Check the addresses that names resolved
// to, right before connecting: then no name can resolve to another address in between.
import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net'
import { networkInterfaces } from 'node:os'

export type AddressGuard = (address: string) => boolean

export const LOOPBACK: readonly string[] = ['127.0.0.0/8', '::1']

const DENIED: readonly string[] = [
  ...LOOPBACK,
  '0.0.0.0/8',
  // Link-local: the metadata services of most clouds, of ECS tasks (169.254.170.2) and of EKS pods (169.254.170.23).
  '169.254.0.0/16',
  // Protocol assignments, among them the metadata service of Oracle Cloud (192.0.0.192).
  '192.0.0.0/24',
  // Multicast, reserved and broadcast.
  '224.0.0.0/3',
  // Metadata services outside of the link-local range: Alibaba Cloud, Azure.
  '100.100.100.200',
  '168.63.129.16',
  '::',
  'fe80::/10',
  // Site-local, deprecated (RFC 3879).
  'fec0::/10',
  'ff00::/8',
  // Metadata services by IPv6: AWS, EKS pods, Google Cloud, Scaleway.
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
]

/** Begins the suffix of IPv4 addresses that NAT64 of a site embeds (RFC 8215); where in it is up to the site. */
const LOCAL_NAT64: readonly number[] = [0x64, 0xff9b, 1]
/** Of RFC 6052 section 2.2 for prefixes of 48, 56 and 64 bits, around the octet that is 0; 96 is in `EMBEDDING`. */
const LOCAL_NAT64_BYTES: readonly (readonly number[])[] = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
]
const TEREDO: readonly number[] = [0x2001, 0]
const ISATAP = 0x5efe
/** The bits "universal" and "group" of an interface identifier (RFC 5214 section 6.1). */
const IDENTIFIER_FLAGS = 0x300

/** Prefixes of IPv6 addresses that stand for an IPv4 address, and the word it begins at. */
const EMBEDDING: readonly (readonly [prefix: readonly number[], at: number])[] = [
  // Mapped, translated (RFC 2765), compatible, NAT64, 6to4, the server of Teredo.
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0, 0, 0, 0, 0xffff, 0], 6],
  [[0, 0, 0, 0, 0, 0], 6],
  [[0x64, 0xff9b, 0, 0, 0, 0], 6],
  [LOCAL_NAT64, 6],
  [[0x2002], 1],
  [TEREDO, 2],
]

export interface AddressExceptions {
  /** Addresses and networks that are allowed although they are in the list. */
  readonly allowed: readonly string[]
  /** Those of this host: a request to itself would never end, and servers of this host would trust it as local. */
  readonly own: readonly string[]
}

export function addressGuard({ allowed, own }: AddressExceptions): AddressGuard {
  const denies = listOf([...DENIED, ...own])
  const allows = listOf(allowed)
  return (address) => {
    const forms = formsOf(address.replace(/%.*$/, ''))
    return !forms.some((form) => holds(denies, form)) || holds(allows, forms[0])
  }
}

/** Whether it can stand in the list of allowed addresses. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  // A zone is no part of an address that others could have.
  if (rest.length > 0 || text.includes('%') || (!isIPv4(address) && !isIPv6(address))) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv4(address) ? 32 : 128))
}

/** All addresses of this host, at this moment. */
export function ownAddresses(): string[] {
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

/** The address (without a zone), and the IPv4 addresses that gateways of the network would make of it. */
function formsOf(address: string): [string, ...string[]] {
  if (isIPv4(address)) return [address]
  const words = wordsOf(address)
  const embedded = EMBEDDING.filter(([prefix]) => startsWith(words, prefix)).map(([, at]) => addressAt(words, at))
  if (startsWith(words, TEREDO))
    embedded.push(
      addressAt(
        words.map((word) => word ^ 0xffff),
        6,
      ),
    )
  if (words[5] === ISATAP && ((words[4] ?? 0) & ~IDENTIFIER_FLAGS) === 0) embedded.push(addressAt(words, 6))
  if (startsWith(words, LOCAL_NAT64)) embedded.push(...localForms(words))
  return [address, ...embedded]
}

function startsWith(words: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((word, index) => words[index] === word)
}

function addressAt(words: readonly number[], at: number): string {
  return [words[at] ?? 0, words[at + 1] ?? 0].flatMap((word) => [word >> 8, word & 0xff]).join('.')
}

/** Zeros are left out: with another prefix they are padding, and no translator sends anything to 0.0.0.0/8. */
function localForms(words: readonly number[]): string[] {
  const bytes = words.flatMap((word) => [word >> 8, word & 0xff])
  return LOCAL_NAT64_BYTES.map((places) => places.map((place) => bytes[place] ?? 0))
    .filter(([first]) => first !== 0)
    .map((form) => form.join('.'))
}

/** The eight words of an IPv6 address. */
function wordsOf(address: string): number[] {
  const text = new SocketAddress({ address, family: 'ipv6' }).address
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
