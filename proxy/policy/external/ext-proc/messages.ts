// The messages to a processor (data-plane supplement section 7.4): fields as bytes, attributes and metadata from
// expressions. Builds them; sends nothing.
import { create, type JsonObject, type JsonValue, type MessageInitShape } from '@bufbuild/protobuf'
import { GROUP } from '#api/group.ts'
import { jsonText } from '#api/cel/values/json.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { ExtProc } from '#api/ir/types.gen.ts'
import { MetadataSchema, type Metadata } from '../../../envoy/gen/envoy/config/core/v3/base.gen.ts'
import { ProcessingRequestSchema } from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { ProcessingRequest } from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { isToken } from '../../../message/field-name.ts'
import { HeaderList } from '../../../message/headers.ts'
import { evaluate, evaluateText, FAILED } from '../../../cel/evaluate.ts'
import type { ChainEnvironment } from '../../../chain/environment.ts'
import { compileNamed, type Named } from '../ext-auth/request-view.ts'
import type { SideName } from './modes.ts'
import type { Subject } from './subject.ts'

/** The content of a message, without its receiver. */
export type Part = NonNullable<MessageInitShape<typeof ProcessingRequestSchema>['request']>

const ATTRIBUTES = 'envoy.filters.http.ext_proc'
/** Its values become metadata of the call itself. */
const CALL_METADATA = `${GROUP}.grpc_initial_metadata`

export interface CompiledContext {
  readonly attributes: { readonly [S in SideName]: readonly Named[] }
  readonly metadata: readonly { readonly namespace: string; readonly values: readonly Named[] }[]
  readonly callMetadata: readonly Named[]
  readonly expressions: readonly CelExpression[]
}

export function compileContext(policy: ExtProc, environment: Pick<ChainEnvironment, 'expression'>): CompiledContext {
  const namespaces = (policy.metadataContext ?? []).map(({ namespace, values }) => ({
    namespace,
    values: compileNamed(values, environment),
  }))
  const attributes = {
    request: compileNamed(policy.requestAttributes, environment),
    response: compileNamed(policy.responseAttributes, environment),
  }
  const named = [...attributes.request, ...attributes.response, ...namespaces.flatMap(({ values }) => values)]
  return {
    attributes,
    metadata: namespaces.filter(({ namespace }) => namespace !== CALL_METADATA),
    callMetadata: namespaces.find(({ namespace }) => namespace === CALL_METADATA)?.values ?? [],
    expressions: named.map(({ expression }) => expression),
  }
}

/** Metadata of the call: invalid and failed values are ignored. */
export function callMetadataOf({ callMetadata }: CompiledContext, exchange: Exchange): HeaderList {
  const headers = new HeaderList()
  for (const { name, expression } of callMetadata) {
    const lower = name.toLowerCase()
    const value = evaluateText(expression, exchange)
    if (value !== undefined && isToken(lower) && !lower.startsWith('grpc-')) headers.append(lower, value)
  }
  const traceparent = exchange.request.headers.get('traceparent')
  if (traceparent !== undefined && !headers.has('traceparent')) headers.append('traceparent', traceparent)
  return headers
}

/** undefined: nothing is configured. */
export function metadataOf({ metadata }: CompiledContext, exchange: Exchange): Metadata | undefined {
  if (metadata.length === 0) return undefined
  const filterMetadata = nullPrototype<JsonObject>()
  for (const { namespace, values } of metadata) filterMetadata[namespace] = namedObject(values, exchange)
  return create(MetadataSchema, { filterMetadata })
}

export function attributesOf(
  { attributes }: CompiledContext,
  side: SideName,
  exchange: Exchange,
): Record<string, JsonObject> {
  return attributes[side].length === 0 ? {} : { [ATTRIBUTES]: namedObject(attributes[side], exchange) }
}

export function headersPart(subject: Subject, endOfStream: boolean): Part {
  const value = { headers: headerMap([...subject.pseudoHeaders(), ...subject.headers.fields]), endOfStream }
  return subject.side === 'request' ? { case: 'requestHeaders', value } : { case: 'responseHeaders', value }
}

export function bodyPart(side: SideName, bytes: Buffer, endOfStream: boolean): Part {
  // A view without a copy, in the type that the library requires.
  const body = new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length)
  const value = { body, endOfStream }
  return side === 'request' ? { case: 'requestBody', value } : { case: 'responseBody', value }
}

export function trailersPart(side: SideName, trailers: HeaderList): Part {
  const value = { trailers: headerMap(trailers.fields) }
  return side === 'request' ? { case: 'requestTrailers', value } : { case: 'responseTrailers', value }
}

export function messageOf(
  parts: Omit<MessageInitShape<typeof ProcessingRequestSchema>, '$typeName'>,
): ProcessingRequest {
  return create(ProcessingRequestSchema, parts)
}

/** Field values are bytes shown as Latin-1. */
function headerMap(fields: readonly string[]): { headers: { key: string; rawValue: Uint8Array<ArrayBuffer> }[] } {
  const headers: { key: string; rawValue: Uint8Array<ArrayBuffer> }[] = []
  for (let i = 0; i < fields.length; i += 2) {
    headers.push({ key: fields[i] ?? '', rawValue: new Uint8Array(Buffer.from(fields[i + 1] ?? '', 'latin1')) })
  }
  return { headers }
}

/** Failed values and values that are not JSON are ignored. */
export function namedObject(named: readonly Named[], exchange: Exchange): JsonObject {
  const object = nullPrototype<JsonValue>()
  for (const { name, expression } of named) {
    const value = evaluate(expression, exchange)
    const json = value === FAILED ? undefined : jsonOf(value)
    if (json !== undefined) object[name] = json
  }
  return object
}

function jsonOf(value: unknown): JsonValue | undefined {
  try {
    // JSON.parse gives JSON.
    return JSON.parse(jsonText(value)) as JsonValue
  } catch {
    return undefined
  }
}

/** Names come from users: none of them has a special meaning. */
function nullPrototype<V>(): Record<string, V> {
  return Object.create(null) as Record<string, V> // the declared shape; Object.create has no better type
}
