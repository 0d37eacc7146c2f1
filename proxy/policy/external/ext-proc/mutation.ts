// Changes of a message by a processor: a response applies as a whole, or not at all. An invalid name or value
// makes the response a failure; fields of the framing belong to the engine and are ignored.
import type {
  BodyMutation,
  HeaderMutation,
} from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { HeaderValueOption } from '../../../envoy/gen/envoy/config/core/v3/base.gen.ts'
import { type Diagnosis, messageOf } from '../../../exchange/diagnosis.ts'
import { fieldName } from '../../../message/field-name.ts'
import { HeaderList } from '../../../message/headers.ts'
import type { HttpRequest, HttpResponse } from '../../../message/message.ts'
import { fieldValue, isFramingField } from '../../../message/header-field.ts'
import { isTarget, setHost, setMethod } from '../../rewrite/request-target.ts'

/** Limits of a message after the changes; the same as for responses of backends. */
const FIELDS_MAX = 256
const FIELD_BYTES_MAX = 131_072
/** Limit of one response. */
const EDITS_MAX = 1024

/** The response cannot be used. The message contains no values: they may be secrets. */
export class RefusedMutation extends Error {}

/** Why a response cannot be used. */
export function mutationProblem(error: unknown): Diagnosis {
  const log = messageOf(error)
  return { log, client: error instanceof RefusedMutation ? log : 'the response of the processor cannot be used' }
}

type Action = 'Set' | 'Append' | 'AddIfAbsent' | 'SetIfPresent'

interface Edit {
  /** Lower case. */
  readonly name: string
  readonly value: string
  readonly action: Action
}

/** Sets pseudo-headers. False: this message has no such one. @throws {RefusedMutation} for an invalid value. */
type PseudoWriter = (name: string, value: string) => boolean

/**
 * The new content-length; undefined: none.
 * @throws {RefusedMutation} with the request unchanged.
 */
export function editRequest(request: HttpRequest, mutation: HeaderMutation | undefined): number | undefined {
  if (mutation === undefined) return undefined
  const before = { method: request.method, path: request.path, query: request.query, host: request.host }
  const { scheme } = request
  try {
    const { headers, length } = edited(request.headers, mutation, (name, value) => writePart(request, name, value))
    request.headers = headers
    return length
  } catch (error) {
    Object.assign(request, before, { scheme })
    throw error
  }
}

/** As above. */
export function editResponse(response: HttpResponse, mutation: HeaderMutation | undefined): number | undefined {
  if (mutation === undefined) return undefined
  let status: number | undefined
  const { headers, length } = edited(response.headers, mutation, (name, value) => {
    if (name !== ':status') return false
    if (!/^[2-5]\d\d$/.test(value)) throw new RefusedMutation(':status is not a valid status code')
    status = Number(value)
    return true
  })
  response.headers = headers
  if (status !== undefined) response.status = status
  return length
}

/** A changed copy: of trailers, or of the headers of an immediate response. @throws {RefusedMutation} */
export function editedFields(fields: HeaderList, mutation: HeaderMutation | undefined): HeaderList {
  return mutation === undefined ? fields : edited(fields, mutation, () => false).headers
}

/** The replacement of `bytes`. @throws {RefusedMutation} */
export function mutatedBytes(mutation: BodyMutation | undefined, bytes: Buffer): Buffer {
  const change = mutation?.mutation
  if (change?.case === 'body') return bytesOf(change.value)
  if (change?.case === 'clearBody') return change.value ? Buffer.alloc(0) : bytes
  if (change?.case === undefined) return bytes
  throw new RefusedMutation('the processor sent streamed_response, which is not valid in this body mode')
}

export function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function hasFields(list: HeaderList | undefined): boolean {
  return list !== undefined && list.fields.length > 0
}

function edited(
  fields: HeaderList,
  { removeHeaders, setHeaders }: HeaderMutation,
  writePseudo: PseudoWriter,
): { headers: HeaderList; length: number | undefined } {
  if (removeHeaders.length + setHeaders.length > EDITS_MAX) {
    throw new RefusedMutation(`more than ${EDITS_MAX} changes in one response`)
  }
  const headers = fields.clone()
  let length: number | undefined
  // Removals first, as in Envoy: fields set in the same response stay.
  for (const raw of removeHeaders) {
    const name = raw.toLowerCase()
    if (isRemovable(name)) headers.remove(name)
  }
  for (const option of setHeaders) {
    const edit = editOf(option)
    if (edit.name === 'content-length') length = lengthOf(edit.value)
    else if (isFramingField(edit.name) || writePseudo(edit.name, edit.value)) continue
    else if (edit.name.startsWith(':')) throw new RefusedMutation(`${edit.name} does not belong to this message`)
    else apply(headers, edit)
  }
  checkSize(headers)
  return { headers, length }
}

/** A message must keep its pseudo-headers, and a request its host. */
function isRemovable(name: string): boolean {
  return !name.startsWith(':') && name !== 'host' && !isFramingField(name)
}

/**
 * The older field `append` applies if it is set; the newer enum has no distinct unset value beside 0, which
 * means overwrite, as in all processors.
 */
function editOf({ header, append, appendAction }: HeaderValueOption): Edit {
  const name = header?.key.toLowerCase() ?? ''
  if (fieldName(name.startsWith(':') ? name.slice(1) : name) === undefined)
    throw new RefusedMutation('a field name is not valid')
  const { value = '', rawValue = new Uint8Array() } = header ?? {}
  const text =
    rawValue.length > 0 ? bytesOf(rawValue).toString('latin1') : Buffer.from(value, 'utf8').toString('latin1')
  const field = fieldValue(text)
  if (field === undefined) throw new RefusedMutation(`the value of ${name} is not a valid header value`)
  return { name, value: field, action: append === undefined ? actionOf(appendAction) : append ? 'Append' : 'Set' }
}

function actionOf(appendAction: number): Action {
  if (appendAction === 1) return 'AddIfAbsent'
  return appendAction === 3 ? 'SetIfPresent' : 'Set'
}

function apply(headers: HeaderList, { name, value, action }: Edit): void {
  if (action === 'Append') headers.append(name, value)
  else if (action === 'Set' || headers.has(name) === (action === 'SetIfPresent')) headers.set(name, value)
}

function lengthOf(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new RefusedMutation('content-length is not a number')
  return Number(value)
}

function checkSize({ fields }: HeaderList): void {
  if (fields.length / 2 > FIELDS_MAX) throw new RefusedMutation(`more than ${FIELDS_MAX} fields`)
  let bytes = 0
  for (const text of fields) bytes += text.length
  if (bytes > FIELD_BYTES_MAX) throw new RefusedMutation(`fields of more than ${FIELD_BYTES_MAX} bytes`)
}

function writePart(request: HttpRequest, name: string, value: string): boolean {
  switch (name) {
    case ':path':
      if (!isTarget(value)) throw new RefusedMutation(':path is not a valid request target')
      setWholeTarget(request, value)
      return true
    case ':authority':
    case 'host':
      if (!setHost(request, value)) throw new RefusedMutation(':authority is not a valid host')
      return true
    case ':method':
      if (!setMethod(request, value)) throw new RefusedMutation(':method is not a valid method')
      return true
    case ':scheme':
      if (value !== 'http' && value !== 'https') throw new RefusedMutation(':scheme is neither http nor https')
      request.scheme = value
      return true
    default:
      return false
  }
}

/** `:path` is path and query: without a question mark there is no query. */
function setWholeTarget(request: HttpRequest, value: string): void {
  const mark = value.indexOf('?')
  request.path = mark < 0 ? value : value.slice(0, mark)
  request.query = mark < 0 ? '' : value.slice(mark + 1)
}
