// `format()` and `strings.quote()` of the strings extension.
import { elementOrMissing, integral, keysOf } from '../engine/access.ts'
import { numeric } from '../engine/equality.ts'
import { celError } from '../engine/errors.ts'
import { checkLength, type Frame } from '../engine/frame.ts'
import { type CelFunction, global, listArg, method, textArg } from '../engine/function-table.ts'
import { isMap, normalised, textOf, typeName } from '../engine/types.ts'
import { CelType } from '../values/type-value.ts'
import { CelUint } from '../values/uint.ts'
import { stringForm } from './conversions.ts'

const FORMAT_DEPTH_MAX = 64
const PRECISION_MAX = 100
const PRECISION_DEFAULT = 6

function format(template: unknown, args: unknown, frame: Frame): string {
  const text = textArg(template, 'format')
  const values = listArg(args, 'format')
  let used = 0
  let out = ''
  let at = 0
  while (at < text.length) {
    const percent = text.indexOf('%', at)
    if (percent < 0) break
    out += text.slice(at, percent)
    const { verb, precision, end } = readClause(text, percent + 1)
    if (verb === '%') out += '%'
    else if (used >= values.length) throw celError(`format(): index ${used} out of range`)
    else out += formatted(verb, precision, normalised(values[used++]), frame)
    checkLength(out.length)
    at = end
  }
  return out + text.slice(at)
}

interface Clause {
  readonly verb: string
  readonly precision: number | undefined
  readonly end: number
}

function readClause(text: string, start: number): Clause {
  const match = /^(?:\.(\d{1,9}))?([%sdfebxXo])/.exec(text.slice(start, start + 12))
  if (match === null) throw celError('format(): unrecognised formatting clause')
  const [all, digits, verb = ''] = match
  const precision = digits === undefined ? undefined : Number(digits)
  if (precision !== undefined && precision > PRECISION_MAX) throw celError('format(): precision is too large')
  return { verb, precision, end: start + all.length }
}

function formatted(verb: string, precision: number | undefined, value: unknown, frame: Frame): string {
  switch (verb) {
    case 's':
      return formatString(value, frame, 0)
    case 'd':
      return formatDecimal(value)
    case 'f':
      return formatFixed(value, precision ?? PRECISION_DEFAULT)
    case 'e':
      return formatScientific(value, precision ?? PRECISION_DEFAULT)
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : integerOf(value, verb).toString(2)
    case 'o':
      return integerOf(value, verb).toString(8)
    default:
      return verb === 'X' ? formatHex(value).toUpperCase() : formatHex(value)
  }
}

function formatString(value: unknown, frame: Frame, depth: number): string {
  if (depth > FORMAT_DEPTH_MAX) throw celError('format(): value is nested too deeply')
  const given = normalised(value)
  if (typeof given === 'number' && !Number.isFinite(given)) return nonFinite(given)
  if (given === null) return 'null'
  if (given instanceof CelType) return given.name
  const simple = stringForm(given)
  if (simple !== undefined) return simple
  if (Array.isArray(given)) {
    frame.charge(given.length)
    return `[${given.map((item: unknown) => formatString(item, frame, depth + 1)).join(', ')}]`
  }
  if (!isMap(given)) throw celError(`format(): %s does not take ${typeName(given)}`)
  const entries = keysOf(given).map((key) => {
    frame.charge(1)
    return `${formatString(key, frame, depth + 1)}: ${formatString(elementOrMissing(given, key), frame, depth + 1)}`
  })
  return `{${entries.sort().join(', ')}}`
}

function nonFinite(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? 'Infinity' : '-Infinity'
}

function formatDecimal(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : nonFinite(value)
  return integerOf(value, 'd').toString()
}

function doubleOf(value: unknown, verb: string): number {
  const number = numeric(value)
  if (number === undefined) throw celError(`format(): %${verb} does not take ${typeName(value)}`)
  return Number(number)
}

function formatFixed(value: unknown, precision: number): string {
  const number = doubleOf(value, 'f')
  if (!Number.isFinite(number)) return nonFinite(number)
  const fixed = number.toFixed(precision)
  // Halves go to the even neighbour; toFixed rounds them away from zero.
  const isHalf = precision === 0 && Math.abs(number % 1) === 0.5
  return isHalf ? (2 * Math.round(number / 2)).toString() : fixed
}

function formatScientific(value: unknown, precision: number): string {
  const number = doubleOf(value, 'e')
  if (!Number.isFinite(number)) return nonFinite(number)
  return number.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2')
}

function integerOf(value: unknown, verb: string): bigint {
  if (typeof value !== 'number') {
    const integer = integral(value)
    if (integer !== undefined) return integer
  }
  throw celError(`format(): %${verb} does not take ${typeName(value)}`)
}

function formatHex(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  const text = textOf(value)
  if (text !== undefined) return Buffer.from(text).toString('hex')
  if (typeof value === 'bigint' || value instanceof CelUint) return integerOf(value, 'x').toString(16)
  throw celError(`format(): %x does not take ${typeName(value)}`)
}

const QUOTED: ReadonlyMap<string, string> = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
])

function quote(value: unknown): string {
  // eslint-disable-next-line no-control-regex
  return `"${textArg(value, 'strings.quote').replaceAll(/[\u0007-\r\\"]/g, (mark) => QUOTED.get(mark) ?? mark)}"`
}

export const FORMAT_FUNCTIONS: readonly CelFunction[] = [
  method('format', 2, (template, args, _c, _d, frame) => format(template, args, frame)),
  global('strings.quote', 1, quote),
]
