// Name and tags of the session of an assumed role, fixed or computed for each request. Limits: data-plane §8.4.
import type { CelExpression } from '#api/cel/expression.ts'
import { CelUint } from '#api/cel/values/uint.ts'

/** One assumed session: what STS is asked for, and what the key of its credentials is derived from. */
export interface Session {
  readonly name: string
  /** Sorted by key. */
  readonly tags: readonly SessionTag[]
}

export interface SessionTag {
  readonly key: string
  readonly value: string
}

export interface SessionRule {
  /** Fixed, computed, or undefined: `gw`. */
  readonly name: string | CelExpression | undefined
  readonly tags: readonly { readonly key: string; readonly value: string | CelExpression }[]
}

/** The value of an expression for the request at hand; a failure is any value that is not text, number or boolean. */
export type Evaluate = (expression: CelExpression) => unknown

const DEFAULT_NAME = 'gw'
const TAGS_MAX = 50

const NAME = /^[A-Za-z0-9_+=,.@-]{2,64}$/
const TAG_KEY = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/u
const TAG_VALUE = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u

/** The session of one request, or why it has none: for the log, without any computed value. */
export function sessionOf(
  { name, tags }: SessionRule,
  evaluate: Evaluate,
): { readonly session: Session } | { readonly problem: string } {
  const sessionName = computed(name ?? DEFAULT_NAME, evaluate)
  if (sessionName === undefined) return { problem: 'assumeRole.sessionNameExpression has no usable value' }
  if (!NAME.test(sessionName)) return { problem: 'the session name is not 2 to 64 letters, digits and _+=,.@-' }
  if (tags.length > TAGS_MAX) return { problem: `more than ${TAGS_MAX} session tags` }
  const values = new Map<string, string>()
  for (const { key, value } of tags) {
    const text = computed(value, evaluate)
    if (text === undefined) return { problem: `session tag ${key} has no usable value` }
    if (!TAG_KEY.test(key)) return { problem: `session tag ${key} has an invalid key` }
    if (!TAG_VALUE.test(text)) return { problem: `session tag ${key} has an invalid value` }
    if (values.has(key)) return { problem: `session tag ${key} is set twice` }
    values.set(key, text)
  }
  const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1))
  return { session: { name: sessionName, tags: sorted.map(([key, value]) => ({ key, value })) } }
}

/** Fixed values may be empty, computed ones must not. */
function computed(value: string | CelExpression, evaluate: Evaluate): string | undefined {
  if (typeof value === 'string') return value
  const result = evaluate(value)
  if (typeof result === 'string') return result === '' ? undefined : result
  if (result instanceof CelUint) return String(result.value)
  if (typeof result === 'number') return Number.isFinite(result) ? String(result) : undefined
  return typeof result === 'bigint' || typeof result === 'boolean' ? String(result) : undefined
}
