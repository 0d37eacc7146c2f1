// Policies about attempts, bodies and time: retry, delay, buffer, mirrors, health (resources supplement 4.10).
import * as z from 'zod'
import { BYTE_SIZE_MAX, parseByteSize } from '#api/units/byte-size.ts'
import { parseDuration } from '#api/units/duration.ts'
import { evaluatedAt } from './moment.ts'
import { orConditional } from './conditional.ts'
import { fields, notServed, oneShape } from './object.ts'
import { placeShape, simplePolicies } from './upstream.ts'
import { cel, count, duration, text } from './values.ts'

const ATTEMPTS_MAX = 255

const fraction = z.number().min(0).max(1, { error: 'must be at most 1: it is a fraction, 0.5 is half' })

export const retry = fields({
  attempts: z.int().min(1).max(ATTEMPTS_MAX).optional(),
  backoff: duration.optional(),
  codes: z.array(z.int().min(400).max(599)).min(1),
  precondition: cel.optional(),
  condition: evaluatedAt('response', cel).optional(),
})

/** A duration, or CEL that returns one. */
const durationOrCel = oneShape<string>(
  (value) => (typeof value === 'string' && 'ms' in parseDuration(value) ? text : cel),
  [text, cel],
)
export const delay = orConditional({ duration: durationOrCel })

/** To bytes: a number, or a size such as `64Ki`. */
export const byteSize = z.union([z.int(), z.string()]).transform((value, context) => {
  const parsed = parseByteSize(value)
  if ('bytes' in parsed && !parsed.isClamped) return parsed.bytes
  const message = 'problem' in parsed ? parsed.problem : `is too large: at most ${BYTE_SIZE_MAX} bytes`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})
const bufferBody = fields({ maxBytes: byteSize.optional(), failureMode: z.enum(['failClosed', 'failOpen']).optional() })
export const buffer = fields({ request: bufferBody.optional(), response: bufferBody.optional() })

const mirrorTarget = fields({ ...placeShape, policies: simplePolicies.optional() })
export const requestMirror = fields({
  backend: mirrorTarget,
  percentage: fraction,
})

export const health = fields({
  unhealthyExpression: evaluatedAt('response', cel).optional(),
  eviction: fields({
    duration: duration.optional(),
    restoreHealth: fraction.optional(),
    consecutiveFailures: count.optional(),
    healthThreshold: fraction.optional(),
  }).optional(),
  ...notServed(['active'], '; use eviction, which judges endpoints by their responses'),
})

export type RetryFields = z.output<typeof retry>
export type DelayFields = z.output<typeof delay>
export type BufferFields = z.output<typeof buffer>
export type MirrorFields = z.output<typeof requestMirror>
export type HealthFields = z.output<typeof health>
