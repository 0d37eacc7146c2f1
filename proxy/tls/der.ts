// The little of DER (ITU-T X.690) that signing a certificate takes: values written, and those of a certificate that
// OpenSSL has read walked through. Never for what a stranger sent.
import { Buffer } from 'node:buffer'

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

export interface DerValue {
  readonly tag: number
  readonly content: Buffer
  /** Tag and length as well. */
  readonly whole: Buffer
}

/** `tag` may be one of a context, such as 0xa0. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content])
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...parts)
}

/** `2.5.29.17`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(TAG.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** Of whole seconds; two digits of a year are those up to 2049 (RFC 5280 section 4.1.2.5). */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\.\d+|[-:T]/g, '')
  const isLong = digits.slice(0, 4) >= '2050'
  return der(isLong ? TAG.generalizedTime : TAG.utcTime, Buffer.from(isLong ? digits : digits.slice(2), 'latin1'))
}

/** @throws {Error} when a value is longer than what holds it. */
export function values(content: Buffer): DerValue[] {
  const found: DerValue[] = []
  for (let at = 0; at < content.length;) {
    const tag = content[at] ?? 0
    const short = content[at + 1] ?? 0
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f
    const start = at + 2 + lengthBytes
    const length = lengthBytes === 0 ? short : content.readUIntBE(at + 2, lengthBytes)
    if (start + length > content.length) throw new Error('a DER value is longer than what holds it')
    found.push({ tag, content: content.subarray(start, start + length), whole: content.subarray(at, start + length) })
    at = start + length
  }
  return found
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 | bytes.length, ...bytes]
}

function base128(number: number): number[] {
  const bytes = [number % 128]
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | 0x80)
  return bytes
}
