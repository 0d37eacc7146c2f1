// Evaluates expressions for a request: every failure is a value, chosen so that the caller's fallback applies
// (data-plane supplement section 2.4).
import type { CelExpression } from '#api/cel/expression.ts'
import { CelDuration } from '#api/cel/values/duration.ts'
import { jsonText } from '#api/cel/values/json.ts'
import { CelTimestamp } from '#api/cel/values/timestamp.ts'
import { CelUint } from '#api/cel/values/uint.ts'
import { routeShares } from './budget.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { TextReads } from '../exchange/slots.ts'
import { textValue } from '../message/header-field.ts'

/** The failure of an expression; no expression can return it. */
export const FAILED: unique symbol = Symbol('failed')

/** The value of a credential: traces show the expression without it. */
export function evaluateCredential(expression: CelExpression, exchange: Exchange): unknown {
  return evaluate(expression, exchange, true)
}

export function evaluate(expression: CelExpression, exchange: Exchange, isCredential = false): unknown {
  if (exchange.trace !== undefined) return exchange.trace.evaluate({ expression, exchange, failed, isCredential })
  try {
    return routeShares.evaluate(expression, exchange)
  } catch {
    return FAILED
  }
}

function failed(): typeof FAILED {
  return FAILED
}

/** Only the literal `true` counts. */
export function isTrue(expression: CelExpression, exchange: Exchange): boolean {
  return evaluate(expression, exchange) === true
}

/** A valid header value; undefined if the expression fails, has no text form, or would break the message. */
export function evaluateText(expression: CelExpression, exchange: Exchange): string | undefined {
  const value = evaluate(expression, exchange)
  if (value === FAILED) return undefined
  const text = textOf(value)
  return text === undefined ? undefined : textValue(text)
}

/** Strings, numbers, booleans, bytes, timestamps; undefined for values without a text form. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || typeof value === 'boolean' || typeof value === 'number') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof CelDuration || value instanceof CelTimestamp) return value.toString()
  return undefined
}

/** A body: strings and bytes unchanged, everything else as JSON. FAILED if the expression fails. */
export function evaluateBody(expression: CelExpression, exchange: Exchange): Buffer | typeof FAILED {
  const value = evaluate(expression, exchange)
  if (value === FAILED) return FAILED
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  try {
    return Buffer.from(jsonText(value), 'utf8')
  } catch {
    return FAILED
  }
}

/** Texts of LLM requests and answers that expressions read by literal member access. */
export function textReads(expressions: readonly CelExpression[]): TextReads {
  const reads = (...names: readonly string[]): boolean =>
    expressions.some(({ references }) => references.has('*') || names.some((name) => references.has(name)))
  return { request: reads('llm.prompt'), response: reads('llm.completion', 'llm.toolCalls') }
}

/** Bodies an expression reads by literal member access. */
export function readsBody(expressions: readonly (CelExpression | undefined)[], side: 'request' | 'response'): boolean {
  return expressions.some(
    (expression) =>
      expression !== undefined &&
      (expression.references.has('*') ||
        expression.references.has(`${side}.body`) ||
        expression.references.has(`${side}.bodyPrefix`)),
  )
}
