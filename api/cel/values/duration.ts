// A span of time with nanosecond precision, as CEL has it. The proxy makes one by `CelDuration.fromMs`.

export const NANOS_PER_MS = 1_000_000n
export const NANOS_PER_SECOND = 1_000_000_000n

/** The range of the reference implementations: a signed 64-bit count of nanoseconds. */
export const DURATION_NANOS_MAX = 9_223_372_036_854_775_807n

const UNIT_NANOS: ReadonlyMap<string, bigint> = new Map([
  ['h', 3600n * NANOS_PER_SECOND],
  ['m', 60n * NANOS_PER_SECOND],
  ['s', NANOS_PER_SECOND],
  ['ms', NANOS_PER_MS],
  ['us', 1000n],
  ['µs', 1000n],
  ['ns', 1n],
])

/** One part of a duration text: digits with an optional fraction, then a unit. */
const PART = /(\d{1,19})?(?:\.(\d{0,19}))?(h|ms|m|s|us|µs|ns)/y

/** Longest text that can be a duration: each part at most once or a few times. */
const TEXT_LENGTH_MAX = 128

export class CelDuration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }

  static fromMs(ms: number): CelDuration {
    return new CelDuration(nanosOfMs(ms))
  }

  toMs(): number {
    return Number(this.nanos / NANOS_PER_MS) + Number(this.nanos % NANOS_PER_MS) / 1e6
  }

  /** Protobuf JSON: seconds with the fraction that is needed, then `s`. */
  toString(): string {
    const sign = this.nanos < 0n ? '-' : ''
    const nanos = this.nanos < 0n ? -this.nanos : this.nanos
    const fraction = (nanos % NANOS_PER_SECOND).toString().padStart(9, '0').replace(/0+$/, '')
    return `${sign}${nanos / NANOS_PER_SECOND}${fraction === '' ? '' : `.${fraction}`}s`
  }

  toJSON(): string {
    return this.toString()
  }
}

/** Exact for whole milliseconds, to the nanosecond for fractions. */
export function nanosOfMs(ms: number): bigint {
  const whole = Math.trunc(ms)
  return BigInt(whole) * NANOS_PER_MS + BigInt(Math.round((ms - whole) * 1e6))
}

/** Parses `1h2m3.5s`, `-1.5h`, `100ms`, … ; undefined when the text is not a duration or out of range. */
export function parseCelDuration(text: string): CelDuration | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined
  const isNegative = text.startsWith('-')
  const start = isNegative || text.startsWith('+') ? 1 : 0
  if (text.slice(start) === '0') return new CelDuration(0n)
  const nanos = sumParts(text, start)
  if (nanos === undefined || nanos > DURATION_NANOS_MAX) return undefined
  return new CelDuration(isNegative ? -nanos : nanos)
}

function sumParts(text: string, start: number): bigint | undefined {
  let total = 0n
  let at = start
  while (at < text.length) {
    PART.lastIndex = at
    const match = PART.exec(text)
    if (match === null) return undefined
    const [part, whole = '', fraction = '', unit = ''] = match
    if (whole === '' && fraction === '') return undefined
    const unitNanos = UNIT_NANOS.get(unit) ?? 0n
    total += BigInt(whole === '' ? '0' : whole) * unitNanos
    if (fraction !== '') total += (BigInt(fraction) * unitNanos) / 10n ** BigInt(fraction.length)
    at += part.length
  }
  return at === start ? undefined : total
}
