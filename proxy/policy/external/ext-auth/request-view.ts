// The parts of a request for an authorization service: header values, names on the allow-list, metadata from
// expressions.
import type { CelExpression } from '#api/cel/expression.ts'
import { fromJson, jsonText } from '#api/cel/values/json.ts'
import type { NamedExpression } from '#api/ir/types.gen.ts'
import type { JsonObject } from '@bufbuild/protobuf'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { HttpRequest } from '../../../message/message.ts'
import type { ChainEnvironment } from '../../../chain/environment.ts'
import { evaluate, FAILED } from '../../../cel/evaluate.ts'

export interface Named {
  readonly name: string
  readonly expression: CelExpression
}

export function compileNamed(
  list: readonly NamedExpression[] | undefined,
  environment: Pick<ChainEnvironment, 'expression'>,
): readonly Named[] {
  return (list ?? []).map(({ name, expression }) => ({ name, expression: environment.expression(expression) }))
}

/** undefined: not one of the pseudo-headers of a request. */
export function pseudoHeader(request: HttpRequest, name: string): string | undefined {
  switch (name) {
    case ':method':
      return request.method
    case ':path':
      return request.pathAndQuery
    case ':scheme':
      return request.scheme
    case ':authority':
    case 'host':
      return request.host
    default:
      return undefined
  }
}

/** A CEL map as JSON; undefined if the expression fails or does not return a map. */
export function evaluateObject(expression: CelExpression, exchange: Exchange): JsonObject | undefined {
  const value = evaluate(expression, exchange)
  return value === FAILED ? undefined : objectOf(value)
}

export function objectOf(value: unknown): JsonObject | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(jsonText(value))
  } catch {
    return undefined
  }
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  // JSON.parse returns JSON; the check above ensures an object.
  return isObject ? (parsed as JsonObject) : undefined
}

/** CEL values of a service's metadata. The caller must not use the object again. */
export function attributesOf(metadata: JsonObject): Readonly<Record<string, unknown>> | undefined {
  try {
    // An object stays an object.
    return fromJson(metadata) as Record<string, unknown>
  } catch {
    return undefined
  }
}
