// One guardrail service: the messages to it, and what its answers mean (data-plane supplement section 4.5). Errors have
// no text of parameters and results.
import { create, type JsonObject } from '@bufbuild/protobuf'
import { isRecord, parseJson, parseJsonExactly, type JsonRecord } from '#api/json.ts'
import type { MCPGuardrailsProcessor } from '#api/ir/types.gen.ts'
import { setAttribute } from '../../chain/attributes.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { ServiceError, type ServiceCaller } from '../../chain/service.ts'
import { HeaderMutationSchema } from '../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderList } from '../../message/headers.ts'
import type { HttpRequest } from '../../message/message.ts'
import { attributesOf, compileNamed, pseudoHeader, type Named } from '../../policy/external/ext-auth/request-view.ts'
import { namedObject } from '../../policy/external/ext-proc/messages.ts'
import { bytesOf, editedFields, RefusedMutation } from '../../policy/external/ext-proc/mutation.ts'
import type { GuardVerdict } from '../context.ts'
import { INTERNAL_ERROR, INVALID_REQUEST, type JsonRpcError } from '../jsonrpc.ts'
import {
  CheckRequestInputSchema,
  CheckResponseInputSchema,
  ExtMcp,
  McpError_Code,
  type CheckRequestOutput,
  type CheckResponseOutput,
  type Header,
  type HeaderMutation,
  type McpError,
} from './gen/gw/dev/ext_mcp/ext_mcp.gen.ts'

/** What a service checks. */
export interface Checked {
  readonly exchange: Exchange
  readonly method: string
  /** Names of the servers; several for a request that goes to all of them. */
  readonly targets: readonly string[]
}

export interface CheckedRequest extends Checked {
  /** undefined: the request has no params, or several servers get it. */
  readonly params: JsonRecord | undefined
}

export interface CheckedResult extends Checked {
  readonly result: JsonRecord
}

export interface Processor {
  readonly failureMode: MCPGuardrailsProcessor['failureMode']
  /** @throws {ServiceError} if no valid answer comes within 10 seconds, or `http.requestTimeout` of the service. */
  checkRequest(checked: CheckedRequest): Promise<GuardVerdict>
  /** @throws {ServiceError} */
  checkResult(checked: CheckedResult): Promise<GuardVerdict>
}

export type GuardrailEnvironment = Pick<ChainEnvironment, 'expression' | 'service'>

/** JSON-RPC codes of the contract; they are in the range for implementations. */
const CODES: ReadonlyMap<number, number> = new Map([
  [McpError_Code.PERMISSION_DENIED, -32_001],
  [McpError_Code.RESOURCE_EXHAUSTED, -32_003],
  [McpError_Code.INVALID, INVALID_REQUEST],
])
const PSEUDO = [':method', ':scheme', ':authority', ':path']
/** Characters of a reason that a client gets. */
const REASON_LENGTH_MAX = 1024
const DEFAULT_REASON = 'rejected by a guardrail'

interface Compiled {
  readonly service: ServiceCaller | undefined
  readonly metadata: readonly Named[]
  /** undefined: all. */
  readonly allowed: ReadonlySet<string> | undefined
  readonly disallowed: ReadonlySet<string>
}

export function compileProcessor(settings: MCPGuardrailsProcessor, environment: GuardrailEnvironment): Processor {
  const { service, failureMode, metadata, allowedRequestHeaders, disallowedRequestHeaders } = settings
  const compiled: Compiled = {
    service: environment.service(service, 'Guardrail'),
    metadata: compileNamed(metadata, environment),
    allowed: allowedRequestHeaders === undefined ? undefined : new Set(allowedRequestHeaders),
    disallowed: new Set(disallowedRequestHeaders),
  }
  return {
    failureMode,
    checkRequest: (checked) => checkRequest(checked, compiled),
    checkResult: (checked) => checkResult(checked, compiled),
  }
}

async function checkRequest(checked: CheckedRequest, compiled: Compiled): Promise<GuardVerdict> {
  const { exchange, params } = checked
  const message = create(CheckRequestInputSchema, {
    ...contextOf(checked, compiled),
    headers: headersOf(exchange.request, compiled),
    ...(params === undefined ? {} : { mcpRequest: jsonBytes(params) }),
  })
  const answer = await serviceOf(compiled).unary(exchange, ExtMcp.method.checkRequest, message, callOf(exchange))
  const verdict = verdictOf(answer, params !== undefined)
  const headers = editedHeaders(exchange.request, answer.headerMutation)
  // All checks of the answer are done: it applies as a whole.
  exchange.request.headers = headers
  if (answer.metadata !== undefined) addMetadata(exchange, answer.metadata)
  return verdict
}

async function checkResult(checked: CheckedResult, compiled: Compiled): Promise<GuardVerdict> {
  const { exchange, result } = checked
  const message = create(CheckResponseInputSchema, { ...contextOf(checked, compiled), mcpResponse: jsonBytes(result) })
  const answer = await serviceOf(compiled).unary(exchange, ExtMcp.method.checkResponse, message, callOf(exchange))
  return verdictOf(answer, true)
}

function serviceOf({ service }: Compiled): ServiceCaller {
  if (service === undefined) throw new ServiceError('the service does not exist')
  return service
}

function callOf({ request }: Exchange) {
  const headers = new HeaderList()
  const traceparent = request.headers.get('traceparent')
  if (traceparent !== undefined) headers.append('traceparent', traceparent)
  return { headers, isDetached: false }
}

function contextOf({ exchange, method, targets }: Checked, { metadata }: Compiled) {
  return { serviceNames: [...targets], method, metadataContext: namedObject(metadata, exchange) }
}

/** Without lists all fields, credentials included (specification, MCPGuardrails). */
function headersOf(request: HttpRequest, { allowed, disallowed }: Compiled) {
  const isSent = (name: string): boolean => !disallowed.has(name) && (allowed === undefined || allowed.has(name))
  const headers: { key: string; value: Uint8Array<ArrayBuffer> }[] = []
  const add = (key: string, value: string): void => {
    if (isSent(key)) headers.push({ key, value: new Uint8Array(Buffer.from(value, 'latin1')) })
  }
  for (const name of PSEUDO) add(name, pseudoHeader(request, name) ?? '')
  const { fields } = request.headers
  for (let i = 0; i < fields.length; i += 2) add(fields[i] ?? '', fields[i + 1] ?? '')
  return headers
}

function jsonBytes(value: JsonRecord): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(JSON.stringify(value)))
}

/** `isMutable`: what the service returns replaces the checked value. */
function verdictOf({ result }: CheckRequestOutput | CheckResponseOutput, isMutable: boolean): GuardVerdict {
  if (result.case === undefined) throw new ServiceError('its answer has none of pass, mutated, error')
  if (result.case === 'error') return { error: errorOf(result.value) }
  if (result.case === 'pass' || !isMutable) return { value: undefined }
  const value = parseJsonExactly(bytesOf(result.value).toString('utf8'))
  if (!isRecord(value)) throw new ServiceError('its mutation is not a JSON object')
  return { value }
}

/** A rejection with a mistake still rejects. */
function errorOf({ code, reason, mcpError }: McpError): JsonRpcError {
  const data = mcpError === undefined ? undefined : parseJson(bytesOf(mcpError).toString('utf8'))
  return {
    code: CODES.get(code) ?? INTERNAL_ERROR,
    message: reason === '' ? DEFAULT_REASON : reason.slice(0, REASON_LENGTH_MAX),
    ...(data === undefined ? {} : { data }),
  }
}

/** As of a processor of `extProc`; the host stays. */
function editedHeaders({ headers }: HttpRequest, mutation: HeaderMutation | undefined): HeaderList {
  if (mutation === undefined) return headers
  const setHeaders = mutation.set.filter(({ key }) => key.toLowerCase() !== 'host').map(setHeader)
  try {
    return editedFields(headers, create(HeaderMutationSchema, { setHeaders, removeHeaders: mutation.remove }))
  } catch (error) {
    if (error instanceof RefusedMutation) throw new ServiceError(`its header mutation is invalid: ${error.message}`)
    throw error
  }
}

function setHeader({ key, value }: Header) {
  return { header: { key, rawValue: new Uint8Array(value) }, append: undefined }
}

/** Members of several services: the last one counts. */
function addMetadata(exchange: Exchange, metadata: JsonObject): void {
  const values = attributesOf(metadata)
  if (values === undefined) throw new ServiceError('its metadata is nested too deeply')
  const former = exchange.attributes?.['mcpGuardrails']
  setAttribute(exchange, 'mcpGuardrails', { ...(isRecord(former) ? former : {}), ...values })
}
