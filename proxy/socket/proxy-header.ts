// The header of the PROXY protocol, versions 1 and 2, at the start of a connection: the client addresses that a load
// balancer forwards. All lengths are limited; the parser never throws for input of a peer.
import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import { plainAddress } from './address.ts'
import type { ConnectionFacts } from './connection-facts.ts'

/** The settings of `frontend.proxyProtocol` that a connection needs. */
export interface ProxyRule {
  readonly version: 'V1' | 'V2' | 'All'
  /** Mode Strict. */
  readonly isRequired: boolean
}

/** The address of the connection that the load balancer accepted. */
export interface TransportedAddresses {
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly localAddress: string
  readonly localPort: number
}

/** Facts of a connection with the addresses of a PROXY header; the addresses of the socket remain available. */
export function transported(
  own: Pick<ConnectionFacts, 'sourceAddress' | 'sourcePort'>,
  addresses: TransportedAddresses | undefined,
): Partial<ConnectionFacts> {
  return addresses === undefined ? {} : { ...addresses, origin: { address: own.sourceAddress, port: own.sourcePort } }
}

export type ProxyHeaderOutcome =
  /** Valid so far, but incomplete. */
  | { readonly kind: 'More' }
  /** `addresses`: undefined if the load balancer connects for itself, or sends no addresses of a known family. */
  | { readonly kind: 'Header'; readonly length: number; readonly addresses: TransportedAddresses | undefined }
  /** No header, and the rule requires none. */
  | { readonly kind: 'Plain' }
  | { readonly kind: 'Invalid'; readonly detail: string }

/** Data-plane supplement section 1.1. */
export const PROXY_HEADER_TIMEOUT_MS = 5000

const SIGNATURE_1 = Buffer.from('PROXY ', 'latin1')
const SIGNATURE_2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** Specification of the protocol: the longest line of version 1, including its end. */
const LINE_BYTES_MAX = 107
const HEAD_BYTES = 16
/** Addresses and additions (TLV) of version 2; load balancers send a few hundred bytes. */
const BLOCK_BYTES_MAX = 4096
const LINE = /^PROXY (TCP4|TCP6) ([0-9A-Fa-f.:]{2,39}) ([0-9A-Fa-f.:]{2,39}) (0|[1-9][0-9]{0,4}) (0|[1-9][0-9]{0,4})$/
const UNKNOWN = /^PROXY UNKNOWN(?: [ -~]*)?$/
const PORT_MAX = 65_535

const MORE: ProxyHeaderOutcome = { kind: 'More' }
const PLAIN: ProxyHeaderOutcome = { kind: 'Plain' }
const NO_HEADER = invalid('the PROXY header is missing')
const BAD_LINE = invalid('the PROXY header of version 1 is malformed')
const BAD_HEAD = invalid('the PROXY header of version 2 is malformed')

/** `bytes`: all bytes so far. The result does not depend on how the header is split into reads. */
export function readProxyHeader(bytes: Buffer, rule: ProxyRule): ProxyHeaderOutcome {
  const is1 = beginsAs(bytes, SIGNATURE_1)
  const is2 = beginsAs(bytes, SIGNATURE_2)
  if (is1 === 'No' && is2 === 'No') return rule.isRequired ? NO_HEADER : PLAIN
  if (is1 === 'Yes')
    return rule.version === 'V2' ? invalid('PROXY header has version 1; version 2 is required') : line(bytes)
  if (is2 === 'Yes')
    return rule.version === 'V1' ? invalid('PROXY header has version 2; version 1 is required') : binary(bytes)
  return MORE
}

function beginsAs(bytes: Buffer, signature: Buffer): 'Yes' | 'No' | 'Maybe' {
  const length = Math.min(bytes.length, signature.length)
  if (bytes.compare(signature, 0, length, 0, length) !== 0) return 'No'
  return length === signature.length ? 'Yes' : 'Maybe'
}

function line(bytes: Buffer): ProxyHeaderOutcome {
  const end = bytes.subarray(0, LINE_BYTES_MAX).indexOf('\r\n')
  if (end < 0) return bytes.length < LINE_BYTES_MAX ? MORE : BAD_LINE
  const text = bytes.toString('latin1', 0, end)
  const addresses = UNKNOWN.test(text) ? undefined : textual(text)
  return addresses === null ? BAD_LINE : { kind: 'Header', length: end + 2, addresses }
}

/** null: malformed. */
function textual(text: string): TransportedAddresses | null {
  const [, family, source = '', local = '', sourcePort, localPort] = LINE.exec(text) ?? []
  const isFamily = family === 'TCP4' ? isIPv4 : isIPv6
  if (family === undefined || !isFamily(source) || !isFamily(local)) return null
  const ports = { sourcePort: Number(sourcePort), localPort: Number(localPort) }
  if (ports.sourcePort > PORT_MAX || ports.localPort > PORT_MAX) return null
  return { sourceAddress: canonical(source), localAddress: canonical(local), ...ports }
}

function binary(bytes: Buffer): ProxyHeaderOutcome {
  // An invalid header is rejected at its first invalid byte.
  const { [COMMAND_AT]: command = LOCAL, [FAMILY_AT]: family = 0 } = bytes
  const familyBytes = FAMILIES.get(family)
  if ((command !== LOCAL && command !== PROXY) || familyBytes === undefined) return BAD_HEAD
  if (bytes.length < HEAD_BYTES) return MORE
  const blockBytes = bytes.readUInt16BE(14)
  const addressBytes = command === LOCAL ? 0 : familyBytes
  if (blockBytes > BLOCK_BYTES_MAX || blockBytes < addressBytes) return BAD_HEAD
  const length = HEAD_BYTES + blockBytes
  if (bytes.length < length) return MORE
  // The bytes after the addresses are skipped.
  return { kind: 'Header', length, addresses: block(bytes, addressBytes) }
}

const COMMAND_AT = 12
const FAMILY_AT = 13
const LOCAL = 0x20
const PROXY = 0x21
const IPV4_BYTES = 12
const IPV6_BYTES = 36
const UNIX_BYTES = 216
/** Family and transport, with the length of the two addresses. Other values are undefined and must be rejected. */
const FAMILIES: ReadonlyMap<number, number> = new Map([
  [0x00, 0],
  [0x11, IPV4_BYTES],
  [0x12, IPV4_BYTES],
  [0x21, IPV6_BYTES],
  [0x22, IPV6_BYTES],
  [0x31, UNIX_BYTES],
  [0x32, UNIX_BYTES],
])

function block(bytes: Buffer, addressBytes: number): TransportedAddresses | undefined {
  if (addressBytes !== IPV4_BYTES && addressBytes !== IPV6_BYTES) return undefined
  const width = (addressBytes - 4) / 2
  const textOf = (at: number): string => {
    const one = bytes.subarray(at, at + width)
    return width === 4 ? one.join('.') : canonical((one.toString('hex').match(/.{4}/g) ?? []).join(':'))
  }
  const ports = HEAD_BYTES + 2 * width
  return {
    sourceAddress: textOf(HEAD_BYTES),
    localAddress: textOf(HEAD_BYTES + width),
    sourcePort: bytes.readUInt16BE(ports),
    localPort: bytes.readUInt16BE(ports + 2),
  }
}

/** In the form that sockets use: each address needs one spelling, or rules that compare strings could be bypassed. */
function canonical(address: string): string {
  return isIPv4(address) ? address : plainAddress(new SocketAddress({ address, family: 'ipv6' }).address)
}

function invalid(detail: string): ProxyHeaderOutcome {
  return { kind: 'Invalid', detail }
}
