// The gRPC protocol of external authorization: envoy.service.auth.v3.Authorization/Check (data-plane supplement section
// 7.1). Builds the request and parses the response; makes no decision.
import { create } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { ExtAuth, ExtAuthGrpc } from '#api/ir/types.gen.ts'
import type { ServiceCaller } from '../../../chain/service.ts'
import { AddressSchema, type Address } from '../../../envoy/gen/envoy/config/core/v3/address.gen.ts'
import {
  MetadataSchema,
  type HeaderValueOption,
  type Metadata,
} from '../../../envoy/gen/envoy/config/core/v3/base.gen.ts'
import {
  Authorization,
  CheckRequestSchema,
  type CheckRequest,
  type CheckResponse,
  type OkHttpResponse,
} from '../../../envoy/gen/envoy/service/auth/v3/external_auth.gen.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import { textOfLatin1 } from '../../../message/latin1-text.ts'
import { requestIdOf } from '../../../log/request-id.ts'
import { microsAt } from '../../../log/timestamp.ts'
import type { ChainEnvironment } from '../../../chain/environment.ts'
import { readsBody } from '../../../cel/evaluate.ts'
import type { Decision, HeaderAction, HeaderEdit } from './decision.ts'
import type { AuthorizationProtocol, Question } from './protocol.ts'
import { attributesOf, compileNamed, evaluateObject, objectOf, pseudoHeader, type Named } from './request-view.ts'

const JWT_NAMESPACE = 'envoy.filters.http.jwt_authn'
const PSEUDO = [':method', ':scheme', ':authority', ':path']
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

interface Compiled {
  readonly contextExtensions: Readonly<Record<string, string>>
  readonly requestMetadata: readonly Named[] | undefined
  /** undefined: all. */
  readonly allowed: ReadonlySet<string> | undefined
  readonly packAsBytes: boolean
}

export function grpcProtocol(
  grpc: ExtAuthGrpc,
  { allowedRequestHeaders, forwardBody }: ExtAuth,
  environment: Pick<ChainEnvironment, 'expression'>,
): AuthorizationProtocol {
  const { contextExtensions = {}, requestMetadata } = grpc
  const compiled: Compiled = {
    contextExtensions,
    requestMetadata: requestMetadata === undefined ? undefined : compileNamed(requestMetadata, environment),
    allowed: allowedRequestHeaders === undefined ? undefined : new Set(allowedRequestHeaders),
    packAsBytes: forwardBody?.packAsBytes === true,
  }
  const expressions = compiled.requestMetadata?.map(({ expression }) => expression) ?? []
  return {
    readsRequestBody: readsBody(expressions, 'request'),
    async ask(question, service: ServiceCaller) {
      const request = checkRequestOf(question, compiled)
      const headers = new HeaderList()
      const traceparent = question.exchange.request.headers.get('traceparent')
      if (traceparent !== undefined) headers.append('traceparent', traceparent)
      const options = { headers, isDetached: false }
      const response = await service.unary(question.exchange, Authorization.method.check, request, options)
      return { decision: decisionOf(response), isCacheable: true }
    },
  }
}

function checkRequestOf({ exchange, body }: Question, compiled: Compiled): CheckRequest {
  const { connection, request } = exchange
  return create(CheckRequestSchema, {
    attributes: {
      source: {
        address: addressOf(connection.sourceAddress, connection.sourcePort),
        principal: connection.peer?.spiffeId ?? '',
      },
      destination: { address: addressOf(connection.localAddress, connection.localPort) },
      request: {
        time: timestampFromMs(Math.trunc(microsAt(exchange.startMs) / 1000)),
        http: {
          id: requestIdOf(exchange),
          method: request.method,
          headers: headersOf(exchange, compiled.allowed),
          path: textOfLatin1(request.pathAndQuery),
          host: request.host,
          scheme: request.scheme,
          protocol: request.version,
          ...bodyOf(body, compiled.packAsBytes),
        },
      },
      contextExtensions: compiled.contextExtensions,
      metadataContext: metadataOf(exchange, compiled.requestMetadata),
      ...(connection.sni === undefined ? {} : { tlsSession: { sni: connection.sni } }),
    },
  })
}

function addressOf(address: string, port: number): Address {
  return create(AddressSchema, {
    address: { case: 'socketAddress', value: { address, portSpecifier: { case: 'portValue', value: port } } },
  })
}

/** Repeated fields become one (RFC 9110 section 5.3; cookies: RFC 9113 section 8.2.3). */
function headersOf({ request }: Exchange, allowed: ReadonlySet<string> | undefined): Record<string, string> {
  // Names come from clients: without a prototype, no name has a special meaning.
  const headers = Object.create(null) as Record<string, string>
  for (const name of PSEUDO) {
    if (allowed?.has(name) !== false) headers[name] = textOfLatin1(pseudoHeader(request, name) ?? '')
  }
  const { fields } = request.headers
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    if (allowed?.has(name) === false) continue
    const value = textOfLatin1(fields[i + 1] ?? '')
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  return headers
}

function bodyOf(
  body: Buffer | undefined,
  packAsBytes: boolean,
): { size?: bigint; body?: string; rawBody?: Uint8Array<ArrayBuffer> } {
  if (body === undefined) return {}
  const size = BigInt(body.length)
  if (!packAsBytes) {
    try {
      return { size, body: UTF_8.decode(body) }
    } catch {
      // Not text: only bytes keep it unchanged.
    }
  }
  return { size, rawBody: new Uint8Array(body) }
}

function metadataOf(exchange: Exchange, requestMetadata: readonly Named[] | undefined): Metadata {
  const metadata = create(MetadataSchema)
  if (requestMetadata === undefined) {
    const jwt = exchange.attributes?.['jwt']
    if (typeof jwt !== 'object' || jwt === null) return metadata
    const claims = objectOf(Object.fromEntries(Object.entries(jwt).filter(([name]) => name !== 'rawToken')))
    if (claims !== undefined) metadata.filterMetadata[JWT_NAMESPACE] = { jwt_payload: claims }
    return metadata
  }
  for (const { name, expression } of requestMetadata) {
    const value = evaluateObject(expression, exchange)
    if (value !== undefined) metadata.filterMetadata[name] = value
  }
  return metadata
}

export function decisionOf({ status, httpResponse, dynamicMetadata }: CheckResponse): Decision {
  const ok = httpResponse.case === 'okResponse' ? httpResponse.value : undefined
  const given = dynamicMetadata ?? ok?.dynamicMetadata
  const metadata = given === undefined ? undefined : attributesOf(given)
  if ((status?.code ?? 0) === 0) return { ...editsOf(ok), metadata, isAllowed: true }
  if (httpResponse.case !== 'deniedResponse') return { isAllowed: false, answer: undefined, metadata }
  const { status: httpStatus, headers, body } = httpResponse.value
  const code: number = httpStatus?.code ?? 0
  return {
    isAllowed: false,
    answer: { status: code === 0 ? 403 : code, headers: headers.flatMap(editOf), body },
    metadata,
  }
}

function editsOf(
  ok: OkHttpResponse | undefined,
): Omit<Extract<Decision, { isAllowed: true }>, 'isAllowed' | 'metadata'> {
  return {
    headers: ok?.headers.flatMap(editOf) ?? [],
    removedHeaders: ok?.headersToRemove.map((name) => name.toLowerCase()) ?? [],
    query: ok?.queryParametersToSet.map(({ key, value }) => ({ name: key, value })) ?? [],
    removedQuery: ok?.queryParametersToRemove ?? [],
    responseHeaders: ok?.responseHeadersToAdd.flatMap(editOf) ?? [],
  }
}

/**
 * The older field `append` applies if it is set; the newer enum has no distinct unset value beside 0, which
 * therefore means overwrite, as in all authorization services.
 */
function editOf({ header, append, appendAction }: HeaderValueOption): HeaderEdit[] {
  if (header === undefined || header.key === '') return []
  const { key, value, rawValue } = header
  const text = value === '' && rawValue.length > 0 ? Buffer.from(rawValue).toString('utf8') : value
  return [
    { name: key.toLowerCase(), value: fieldBytes(text), action: append === true ? 'Append' : actionOf(appendAction) },
  ]
}

/** Text in fields is UTF-8. */
function fieldBytes(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text, 'utf8').toString('latin1')
}

function actionOf(appendAction: number): HeaderAction {
  if (appendAction === 1) return 'AddIfAbsent'
  return appendAction === 3 ? 'SetIfPresent' : 'Set'
}
