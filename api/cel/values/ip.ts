// IP addresses and ranges as values. An IPv4 address mapped into IPv6 is that IPv4 address: a second spelling must not
// evade a rule. Addresses with a zone are rejected.
import { isIPv4, isIPv6 } from 'node:net'

export class CelIp {
  readonly family: 4 | 6
  readonly bits: bigint

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family
    this.bits = bits
  }

  toString(): string {
    return this.family === 4 ? formatIpv4(this.bits) : formatIpv6(this.bits)
  }

  toJSON(): string {
    return this.toString()
  }
}

export class CelCidr {
  readonly ip: CelIp
  readonly prefixLength: number

  constructor(ip: CelIp, prefixLength: number) {
    this.ip = ip
    this.prefixLength = prefixLength
  }

  containsIp(ip: CelIp): boolean {
    if (ip.family !== this.ip.family) return false
    const shift = BigInt(width(ip.family) - this.prefixLength)
    return ip.bits >> shift === this.ip.bits >> shift
  }

  containsCidr(other: CelCidr): boolean {
    return other.prefixLength >= this.prefixLength && this.containsIp(other.ip)
  }

  masked(): CelCidr {
    const shift = BigInt(width(this.ip.family) - this.prefixLength)
    return new CelCidr(new CelIp(this.ip.family, (this.ip.bits >> shift) << shift), this.prefixLength)
  }

  toString(): string {
    return `${this.ip.toString()}/${this.prefixLength}`
  }

  toJSON(): string {
    return this.toString()
  }
}

export function parseIp(text: string): CelIp | undefined {
  if (isIPv4(text)) return new CelIp(4, parseIpv4(text))
  if (!isIPv6(text) || text.includes('%')) return undefined
  const bits = parseIpv6(text)
  return bits >> 32n === 0xffffn ? new CelIp(4, bits & 0xffffffffn) : new CelIp(6, bits)
}

export function parseCidr(text: string): CelCidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const ip = parseIp(text.slice(0, slash))
  const prefix = text.slice(slash + 1)
  if (ip === undefined || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined
  const prefixLength = Number(prefix)
  return prefixLength > width(ip.family) ? undefined : new CelCidr(ip, prefixLength)
}

function width(family: 4 | 6): number {
  return family === 4 ? 32 : 128
}

function parseIpv4(text: string): bigint {
  let bits = 0n
  for (const part of text.split('.')) bits = (bits << 8n) | BigInt(part)
  return bits
}

function parseIpv6(text: string): bigint {
  const [head = '', tail] = hexadecimal(text).split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0')
  let bits = 0n
  for (const part of [...before, ...zeros, ...after]) bits = (bits << 16n) | BigInt(`0x${part}`)
  return bits
}

/** Turns a dotted tail (`::ffff:10.0.0.1`) into two groups. */
function hexadecimal(text: string): string {
  if (!text.includes('.')) return text
  const colon = text.lastIndexOf(':') + 1
  const bits = parseIpv4(text.slice(colon))
  return `${text.slice(0, colon)}${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`
}

function formatIpv4(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => ((bits >> shift) & 0xffn).toString()).join('.')
}

/** RFC 5952: lower case, the longest run of two or more zero groups becomes `::`. */
function formatIpv6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - i * 16)) & 0xffffn).toString(16))
  const run = longestZeroRun(groups)
  if (run.length < 2) return groups.join(':')
  return `${groups.slice(0, run.start).join(':')}::${groups.slice(run.start + run.length).join(':')}`
}

function longestZeroRun(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 }
  let start = 0
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === '0') continue
    if (i - start > best.length) best = { start, length: i - start }
    start = i + 1
  }
  return best
}
