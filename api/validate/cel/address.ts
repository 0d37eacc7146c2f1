// IP addresses and CIDR blocks in CEL rules.
import type { Environment } from '@marcbachmann/cel-js'
import ipaddr from 'ipaddr.js'

type Parsed = ipaddr.IPv4 | ipaddr.IPv6

class Address {
  readonly value: Parsed

  constructor(value: Parsed) {
    this.value = value
  }

  /** Absent: not an address the API server takes (no zones, no IPv4 inside IPv6, four full decimal parts). */
  static parse(text: string): Address | undefined {
    if (text.includes(':')) {
      const isPlain = ipaddr.IPv6.isValid(text) && !text.includes('%') && !text.includes('.')
      const value = isPlain ? ipaddr.IPv6.parse(text) : undefined
      return value === undefined || value.isIPv4MappedAddress() ? undefined : new Address(value)
    }
    const hasLeadingZero = /(?:^|\.)0\d/.test(text)
    if (hasLeadingZero || !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
    return new Address(ipaddr.IPv4.parse(text))
  }

  range(): string {
    return this.value.range()
  }

  bits(): number {
    return this.value.kind() === 'ipv4' ? 32 : 128
  }
}

class Cidr {
  readonly address: Address
  readonly prefix: number

  constructor(address: Address, prefix: number) {
    this.address = address
    this.prefix = prefix
  }

  static parse(text: string): Cidr | undefined {
    const [, start = '', digits = ''] = /^(.*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
    const address = Address.parse(start)
    if (address === undefined || Number(digits) > address.bits()) return undefined
    return new Cidr(address, Number(digits))
  }

  contains(address: Address): boolean {
    const [block, other] = [this.address.value, address.value]
    return block.kind() === other.kind() && other.match(block, this.prefix)
  }

  text(): string {
    return `${this.address.value.toString()}/${this.prefix}`
  }

  masked(): Cidr {
    const parse = this.address.value.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
    return new Cidr(new Address(parse.networkAddressFromCIDR(this.text())), this.prefix)
  }
}

export function registerAddresses(environment: Environment): void {
  registerIps(environment)
  environment
    .registerType('CIDR', Cidr)
    .registerOperator('CIDR == CIDR', (left: Cidr, right: Cidr) => left.text() === right.text())
    .registerFunction('isCIDR(string): bool', (text: string) => Cidr.parse(text) !== undefined)
    .registerFunction('cidr(string): CIDR', cidrOf)
    .registerFunction('CIDR.containsIP(IP): bool', (block: Cidr, address: Address) => block.contains(address))
    .registerFunction('CIDR.containsIP(string): bool', (block: Cidr, text: string) => block.contains(addressOf(text)))
    .registerFunction('CIDR.containsCIDR(CIDR): bool', containsBlock)
    .registerFunction('CIDR.containsCIDR(string): bool', (block: Cidr, text: string) =>
      containsBlock(block, cidrOf(text)),
    )
    .registerFunction('CIDR.ip(): IP', (block: Cidr) => block.address)
    .registerFunction('CIDR.masked(): CIDR', (block: Cidr) => block.masked())
    .registerFunction('CIDR.prefixLength(): int', (block: Cidr) => BigInt(block.prefix))
    .registerFunction('string(CIDR): string', (block: Cidr) => block.text())
}

function registerIps(environment: Environment): void {
  environment
    .registerType('IP', Address)
    .registerOperator('IP == IP', (left: Address, right: Address) => left.value.toString() === right.value.toString())
    .registerFunction('isIP(string): bool', (text: string) => Address.parse(text) !== undefined)
    .registerFunction('ip(string): IP', addressOf)
    .registerFunction('IP.family(): int', (address: Address) => (address.bits() === 32 ? 4n : 6n))
    .registerFunction('IP.isUnspecified(): bool', (address: Address) => /^[0.:]+$/.test(address.value.toString()))
    .registerFunction('IP.isLoopback(): bool', (address: Address) => address.range() === 'loopback')
    .registerFunction('IP.isLinkLocalUnicast(): bool', (address: Address) => address.range() === 'linkLocal')
    .registerFunction('IP.isLinkLocalMulticast(): bool', (address: Address) => {
      return /^(?:224\.0\.0\.|ff[0-9a-f]2:)/.test(address.value.toString())
    })
    .registerFunction('IP.isGlobalUnicast(): bool', (address: Address) => {
      const text = address.value.toString()
      const isSpecial = ['loopback', 'linkLocal', 'multicast', 'broadcast'].includes(address.range())
      return !isSpecial && !/^[0.:]+$/.test(text)
    })
    .registerFunction('string(IP): string', (address: Address) => address.value.toString())
}

function addressOf(text: string): Address {
  const address = Address.parse(text)
  if (address === undefined) throw new RangeError('not an IP address')
  return address
}

function cidrOf(text: string): Cidr {
  const block = Cidr.parse(text)
  if (block === undefined) throw new RangeError('not a CIDR block')
  return block
}

function containsBlock(outer: Cidr, inner: Cidr): boolean {
  return inner.prefix >= outer.prefix && outer.contains(inner.address)
}
