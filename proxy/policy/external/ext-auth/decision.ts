// The decision of an authorization service, independent of its protocol, and its effect on an exchange.
import { withoutQueryParameter } from '../../../auth/request-fields.ts'
import { grpcResponse } from '../../../exchange/failure-response.ts'
import { grpcStatusOf } from '../../../exchange/grpc-http-status.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { HeaderList } from '../../../message/headers.ts'
import { HttpResponse, type HttpRequest } from '../../../message/message.ts'
import { isToken } from '../../../message/field-name.ts'
import { setAttribute } from '../../../chain/attributes.ts'
import type { Verdict } from '../../../chain/filter.ts'
import { fieldValue, isFramingField } from '../../../message/header-field.ts'
import { setHost, setMethod, setTarget } from '../../rewrite/request-target.ts'
import { withQueryParameter } from './query.ts'

/** Append actions of Envoy; `Set` also if the field is absent. */
export type HeaderAction = 'Set' | 'Append' | 'AddIfAbsent' | 'SetIfPresent'

export interface HeaderEdit {
  /** Lower case. */
  readonly name: string
  readonly value: string
  readonly action: HeaderAction
}

export interface Allowed {
  readonly isAllowed: true
  readonly headers: readonly HeaderEdit[]
  readonly removedHeaders: readonly string[]
  readonly query: readonly { readonly name: string; readonly value: string }[]
  readonly removedQuery: readonly string[]
  readonly responseHeaders: readonly HeaderEdit[]
  /** CEL `extauthz`. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

export interface Refused {
  readonly isAllowed: false
  /** undefined: the proxy creates the response. */
  readonly answer:
    | { readonly status: number; readonly headers: readonly HeaderEdit[]; readonly body: Buffer | string }
    | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

export type Decision = Allowed | Refused

const REFUSED_STATUS = 403
/** The part of a body for people that is copied to `grpc-message`. */
const GRPC_MESSAGE_LENGTH_MAX = 1024

export function applyDecision(exchange: Exchange, decision: Decision): Verdict {
  if (decision.metadata !== undefined) setAttribute(exchange, 'extauthz', decision.metadata)
  if (!decision.isAllowed) return refuse(exchange, decision)
  const { request } = exchange
  for (const edit of decision.headers) editRequest(request, edit)
  for (const name of decision.removedHeaders) if (isRemovable(name)) request.headers.remove(name)
  for (const name of decision.removedQuery) request.query = withoutQueryParameter(request.query, name)
  for (const { name, value } of decision.query) request.query = withQueryParameter(request.query, name, value)
  for (const { name, value } of decision.responseHeaders) {
    const field = fieldValue(value)
    if (field !== undefined && isWritable(name)) exchange.queueResponseHeader(name, field)
  }
  return undefined
}

function refuse(exchange: Exchange, { answer }: Refused): HttpResponse {
  if (answer === undefined) return exchange.fail('extAuthzFailed', 'the service rejected the request')
  exchange.reason = 'ExtAuth'
  exchange.errorDetail = `the authorization service returned status ${answer.status}`
  const status = isStatus(answer.status) ? answer.status : REFUSED_STATUS
  if (exchange.isGrpc) {
    return grpcResponse(grpcStatusOf(status), String(answer.body).slice(0, GRPC_MESSAGE_LENGTH_MAX))
  }
  const response = HttpResponse.local(status)
  for (const edit of answer.headers) editFields(response.headers, edit)
  response.body = answer.body
  if (answer.body.length > 0 && !response.headers.has('content-type')) {
    response.headers.append('content-type', 'text/plain')
  }
  return response
}

function isStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 200 && status <= 599
}

/** Pseudo-headers only if the value is valid. */
function editRequest(request: HttpRequest, edit: HeaderEdit): void {
  switch (edit.name) {
    case ':method':
      setMethod(request, edit.value)
      break
    case ':path':
      setTarget(request, edit.value)
      break
    case ':authority':
    case 'host':
      setHost(request, edit.value)
      break
    default:
      editFields(request.headers, edit)
  }
}

/**
 * An invalid value removes the field: a field of the client must not be taken for one of the service.
 * An empty value stays, for the same reason.
 */
function editFields(headers: HeaderList, { name, value, action }: HeaderEdit): void {
  if (!isWritable(name)) return
  const field = fieldValue(value)
  if (field === undefined) headers.remove(name)
  else if (action === 'Append') headers.append(name, field)
  else if (action === 'Set' || headers.has(name) === (action === 'SetIfPresent')) headers.set(name, field)
}

function isWritable(name: string): boolean {
  return isToken(name) && !isFramingField(name)
}

/** A request must keep its pseudo-headers and host. */
function isRemovable(name: string): boolean {
  return !name.startsWith(':') && name !== 'host'
}
