// What checks and rules ask about values: length, patterns, formats, equality. Does not depend on kinds.
import ipaddr from 'ipaddr.js'
import { RE2JS } from 're2js'

/** Length of a text as the API server counts it: code points. */
export function codePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(index + 1)
    if (next >= 0xdc00 && next <= 0xdfff) {
      count -= 1
      index += 1
    }
  }
  return count
}

interface Pattern {
  test(text: string): boolean
}

const patterns = new Map<string, Pattern>()

/** Of a pattern: texts that it matches. Most texts of fields with a pattern, such as kinds and groups, come again. */
const MATCHED_MAX = 128
const MATCHED_CHARS_MAX = 64

/** A pattern with the API server's own semantics (RE2), compiled on first use. Linear in the text. */
export function re2(source: string): Pattern {
  const known = patterns.get(source)
  if (known !== undefined) return known
  let compiled: RE2JS | undefined
  const matched = new Set<string>()
  const pattern: Pattern = {
    test: (text) => {
      if (matched.has(text)) return true
      compiled ??= RE2JS.compile(source)
      const isMatched = compiled.matcher(text).find()
      if (isMatched && text.length <= MATCHED_CHARS_MAX) {
        if (matched.size === MATCHED_MAX) matched.clear()
        matched.add(text)
      }
      return isMatched
    },
  }
  // Bounded: only patterns of generated tables get here.
  patterns.set(source, pattern)
  return pattern
}

/** Deep equality of JSON values. */
export function equal(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => equal(item, right[index]))
  }
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every((key) => Object.hasOwn(right, key) && equal(Reflect.get(left, key), Reflect.get(right, key)))
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/
const DURATION = /^(?:0|(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+|\d+(?:\.\d*)? ?(?:ns|us|ms|s|m|h|d|w))$/
const HOSTNAME =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*$/
const EMAIL = /^[^\s@<>"]{1,64}@[^\s@<>"]{1,255}$/
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

type Formats = Readonly<Record<string, (text: string) => boolean>>

/** The formats the API server checks. */
export const formats: Formats = {
  'date-time': (text) => isDate(DATE_TIME.exec(text)?.[1] ?? ''),
  date: isDate,
  duration: (text) => DURATION.test(text),
  ipv4: (text) => ipaddr.IPv4.isValidFourPartDecimal(text),
  ipv6: (text) => ipaddr.IPv6.isValid(text),
  cidr: (text) => ipaddr.isValidCIDR(text),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  hostname: (text) => HOSTNAME.test(text),
  email: (text) => EMAIL.test(text),
  uuid: (text) => UUID.test(text),
  byte: (text) => BASE64.test(text),
}

/** A day of the calendar: no 30 February. */
function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number)
  if (year === undefined || month === undefined || day === undefined) return false
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
