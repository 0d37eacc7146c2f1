// A point in time with nanosecond precision. Host code may pass a Date; the engine reads it as one of these.
import { NANOS_PER_MS, NANOS_PER_SECOND, nanosOfMs } from './duration.ts'

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z. */
export const TIMESTAMP_NANOS_MIN = -62_135_596_800n * NANOS_PER_SECOND
export const TIMESTAMP_NANOS_MAX = 253_402_300_800n * NANOS_PER_SECOND - 1n

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

export class CelTimestamp {
  /** Nanoseconds since 1970-01-01T00:00:00Z. */
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }

  static fromMs(ms: number): CelTimestamp {
    return new CelTimestamp(nanosOfMs(ms))
  }

  /** Milliseconds since the epoch, rounded down. */
  epochMs(): number {
    const ms = this.nanos / NANOS_PER_MS
    return Number(this.nanos < 0n && ms * NANOS_PER_MS !== this.nanos ? ms - 1n : ms)
  }

  /** RFC 3339 in UTC with the fraction that is needed. */
  toString(): string {
    const fraction = (((this.nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND)
      .toString()
      .padStart(9, '0')
      .replace(/0+$/, '')
    const seconds = new Date(this.epochMs()).toISOString().slice(0, 19)
    return `${seconds}${fraction === '' ? '' : `.${fraction}`}Z`
  }

  toJSON(): string {
    return this.toString()
  }
}

/** Parses RFC 3339; undefined when the text is not a timestamp or is outside the years 1 to 9999. */
export function parseCelTimestamp(text: string): CelTimestamp | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match
  const seconds = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  // Date.parse rolls 31 February over; the text must come back unchanged.
  if (Number.isNaN(seconds) || new Date(seconds).getUTCDate() !== Number(day)) return undefined
  const offset = zoneOffsetMs(zone)
  if (offset === undefined) return undefined
  const nanos = BigInt(seconds - offset) * NANOS_PER_MS + BigInt(fraction.padEnd(9, '0'))
  return nanos < TIMESTAMP_NANOS_MIN || nanos > TIMESTAMP_NANOS_MAX ? undefined : new CelTimestamp(nanos)
}

/** `Z`, `+02:00`, `-08:30`; undefined when out of range. */
export function zoneOffsetMs(zone: string): number | undefined {
  if (zone === 'Z') return 0
  const match = /^([+-]?)(\d\d):(\d\d)$/.exec(zone)
  if (match === null) return undefined
  const minutes = Number(match[2]) * 60 + Number(match[3])
  if (Number(match[2]) > 23 || Number(match[3]) > 59) return undefined
  return (match[1] === '-' ? -minutes : minutes) * 60_000
}
