// Rewrites requests and responses by expressions: metadata, replace, add, set, remove, body, in this order (data-plane
// supplement section 1.10). A header whose expression fails is removed; a body whose expression fails is empty.
import type { CelExpression } from '#api/cel/expression.ts'
import type { NamedExpression, Transform, Transformation, TransformationOrConditional } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { discardBody } from '../../http/body-writer.ts'
import type { HeaderList } from '../../message/headers.ts'
import { compileConditional } from '../../chain/conditional.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { evaluate, evaluateBody, evaluateText, FAILED, readsBody } from '../../cel/evaluate.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { isFramingField } from '../../message/header-field.ts'
import { replaceFields } from './replaced-fields.ts'
import { setRequestPart } from './request-target.ts'

type Environment = Pick<ChainEnvironment, 'expression'>

interface Named {
  readonly name: string
  readonly expression: CelExpression
}

interface CompiledTransform {
  readonly metadata: readonly Named[]
  /** The whole header. */
  readonly replace: CelExpression | undefined
  readonly add: readonly Named[]
  readonly set: readonly Named[]
  readonly remove: readonly string[]
  readonly body: CelExpression | undefined
  /** The new body depends on that of the response. */
  readonly bodyIsMadeOfResponse: boolean
}

export function compileTransformation(payload: TransformationOrConditional, environment: Environment): CompiledPolicy {
  return 'conditional' in payload
    ? compileConditional(payload.conditional, environment, (policy) => compilePlain(policy, environment))
    : compilePlain(payload, environment)
}

function compilePlain({ request, response }: Transformation, environment: Environment): CompiledPolicy {
  const onRequest = request === undefined ? undefined : compileTransform(request, environment)
  const onResponse = response === undefined ? undefined : compileTransform(response, environment)
  const expressions = [...expressionsOf(onRequest), ...expressionsOf(onResponse)]
  return {
    ...(onRequest === undefined ? {} : { request: (exchange) => transformRequest(exchange, onRequest) }),
    ...(onResponse === undefined ? {} : { response: (exchange) => transformResponse(exchange, onResponse) }),
    readsRequestBody: readsBody(expressions, 'request'),
    readsResponseBody: readsBody(expressionsOf(onResponse), 'response'),
  }
}

function compileTransform(transform: Transform, environment: Environment): CompiledTransform {
  const named = ({ name, expression }: NamedExpression): Named => ({
    name,
    expression: environment.expression(expression),
  })
  const fields = (list: readonly NamedExpression[] | undefined): Named[] =>
    (list ?? []).map((entry) => ({ ...named(entry), name: entry.name.toLowerCase() })).filter(isWritable)
  const expression = (text: string | undefined) => (text === undefined ? undefined : environment.expression(text))
  const body = expression(transform.body)
  return {
    metadata: (transform.metadata ?? []).map(named),
    replace: expression(transform.replace),
    add: fields(transform.add),
    set: fields(transform.set),
    remove: (transform.remove ?? []).map((name) => name.toLowerCase()),
    body,
    bodyIsMadeOfResponse: readsBody([body], 'response'),
  }
}

function isWritable({ name }: Named): boolean {
  return !isFramingField(name)
}

function expressionsOf(transform: CompiledTransform | undefined): CelExpression[] {
  if (transform === undefined) return []
  const { metadata, replace, add, set, body } = transform
  const expressions = [...metadata, ...add, ...set].map(({ expression }) => expression)
  return [...expressions, ...[replace, body].filter((one) => one !== undefined)]
}

function transformRequest(exchange: Exchange, transform: CompiledTransform): undefined {
  const { request } = exchange
  setMetadata(exchange, transform.metadata)
  applyFields(exchange, transform, request.headers, setPartOfRequest)
  if (transform.body === undefined) return undefined
  const body = evaluateBody(transform.body, exchange)
  request.headers.remove('content-length')
  request.body = body === FAILED ? Buffer.alloc(0) : body
  return undefined
}

function transformResponse(exchange: Exchange, transform: CompiledTransform): undefined {
  const { response } = exchange
  if (response === undefined) return undefined
  setMetadata(exchange, transform.metadata)
  applyFields(exchange, transform, response.headers, setResponsePart)
  if (transform.body === undefined) return undefined
  // The length of the response to a GET is unknown, and must not be wrong (RFC 9110 section 8.6).
  const isUnknown = transform.bodyIsMadeOfResponse && exchange.request.method === 'HEAD' && !response.isLocal
  const body = isUnknown ? undefined : evaluateBody(transform.body, exchange)
  discardBody(response.body)
  response.headers.remove('content-length')
  response.body = body === FAILED ? Buffer.alloc(0) : body
  return undefined
}

/** Values of the request side stay for the response, where new ones replace them. A value that fails is not set. */
function setMetadata(exchange: Exchange, metadata: readonly Named[]): void {
  for (const { name, expression } of metadata) {
    const value = evaluate(expression, exchange)
    if (value === FAILED) continue
    // Names come from users: without a prototype, no name has a special meaning.
    exchange.metadata ??= Object.create(null) as Record<string, unknown>
    exchange.metadata[name] = value
  }
}

/** Sets values that are not header fields: pseudo-headers, and `host` of a request. False: the name is a field. */
type SetPart = (exchange: Exchange, name: string, value: string | undefined) => boolean

function applyFields(exchange: Exchange, transform: CompiledTransform, headers: HeaderList, setPart: SetPart): void {
  if (transform.replace !== undefined) replaceFields(headers, transform.replace, exchange)
  for (const { name, expression } of transform.add) {
    const value = evaluateText(expression, exchange)
    if (setPart(exchange, name, value)) continue
    if (value === undefined) headers.remove(name)
    else headers.append(name, value)
  }
  for (const { name, expression } of transform.set) {
    const value = evaluateText(expression, exchange)
    if (setPart(exchange, name, value)) continue
    if (value === undefined) headers.remove(name)
    else headers.set(name, value)
  }
  for (const name of transform.remove) headers.remove(name)
}

function setPartOfRequest({ request }: Exchange, name: string, value: string | undefined): boolean {
  return setRequestPart(request, name, value)
}

function setResponsePart({ response }: Exchange, name: string, value: string | undefined): boolean {
  if (name === ':status' && response !== undefined && value !== undefined && /^[2-5]\d\d$/.test(value)) {
    response.status = Number(value)
  }
  return name.startsWith(':')
}
