// Parts of timestamps and durations. Zones: `UTC`, IANA names, or offsets such as `+02:00`.
import { celError } from '../engine/errors.ts'
import type { Frame } from '../engine/frame.ts'
import { type CelFunction, method, noOverload, textArg } from '../engine/function-table.ts'
import { normalised } from '../engine/types.ts'
import { CelDuration, NANOS_PER_MS, NANOS_PER_SECOND } from '../values/duration.ts'
import { CelTimestamp, zoneOffsetMs } from '../values/timestamp.ts'

const DAY_MS = 86_400_000

/** Named zones are looked up by the runtime, which takes microseconds. */
const NAMED_ZONE_STEPS = 100

/** Formatters are slow to build; there are fewer zones than this in use. */
const FORMATS_MAX = 64
const formats = new Map<string, Intl.DateTimeFormat>()

/** The time as a Date whose UTC parts are the parts in that zone. */
function inZone(time: CelTimestamp, zone: unknown, name: string, frame: Frame): Date {
  const ms = time.epochMs()
  if (zone === undefined) return new Date(ms)
  const text = textArg(zone, name)
  const offset = zoneOffsetMs(text)
  if (offset === undefined) frame.charge(NAMED_ZONE_STEPS)
  return new Date(ms + (offset ?? namedOffsetMs(text, ms)))
}

function namedOffsetMs(zone: string, ms: number): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour') % 24,
    part('minute'),
    part('second'),
  )
  return local - Math.floor(ms / 1000) * 1000
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  if (formats.size >= FORMATS_MAX) formats.clear()
  try {
    const made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone, made)
    return made
  } catch {
    throw celError('unknown time zone')
  }
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS)
}

function datePart(name: string, read: (date: Date) => number): CelFunction {
  return method(name, [1, 2], (value, zone, _c, _d, frame) => {
    const time = normalised(value)
    if (!(time instanceof CelTimestamp)) throw noOverload(name, value)
    return BigInt(read(inZone(time, zone, name, frame)))
  })
}

/** A part that durations have too: there it is the whole length in that unit. */
function timePart(name: string, read: (date: Date) => number, ofDuration: (nanos: bigint) => bigint): CelFunction {
  return method(name, [1, 2], (value, zone, _c, _d, frame) => {
    const time = normalised(value)
    if (time instanceof CelDuration && zone === undefined) return ofDuration(time.nanos)
    if (!(time instanceof CelTimestamp)) throw noOverload(name, value)
    return BigInt(read(inZone(time, zone, name, frame)))
  })
}

export const TIME_FUNCTIONS: readonly CelFunction[] = [
  datePart('getFullYear', (date) => date.getUTCFullYear()),
  datePart('getMonth', (date) => date.getUTCMonth()),
  datePart('getDate', (date) => date.getUTCDate()),
  datePart('getDayOfMonth', (date) => date.getUTCDate() - 1),
  datePart('getDayOfWeek', (date) => date.getUTCDay()),
  datePart('getDayOfYear', dayOfYear),
  timePart(
    'getHours',
    (date) => date.getUTCHours(),
    (nanos) => nanos / (3600n * NANOS_PER_SECOND),
  ),
  timePart(
    'getMinutes',
    (date) => date.getUTCMinutes(),
    (nanos) => nanos / (60n * NANOS_PER_SECOND),
  ),
  timePart(
    'getSeconds',
    (date) => date.getUTCSeconds(),
    (nanos) => nanos / NANOS_PER_SECOND,
  ),
  timePart(
    'getMilliseconds',
    (date) => date.getUTCMilliseconds(),
    (nanos) => (nanos % NANOS_PER_SECOND) / NANOS_PER_MS,
  ),
]
