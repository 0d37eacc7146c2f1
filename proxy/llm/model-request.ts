// The model that a request names: in its path, in its JSON, in a form, as for uploads of images, or in the query of a
// WebSocket.
import { MODEL_ROUTES } from '#api/llm/formats.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { generateUrl } from './formats/gemini/url.ts'
import { asString } from './json.ts'
import { HANDLING, routeTypeMatcher } from './route-type.ts'
import { collectBody, decodeBody, parseBody, RequestJson, type BodyFault } from './request-json.ts'

/** Why no model can answer. */
export type ModelFailure = Extract<FailureCode, `model${string}` | `virtualModel${string}` | 'llmRequestEncoding'>

export interface ModelRequest {
  readonly model: string
  /** undefined: a form, which is never changed, or a WebSocket. */
  readonly json: RequestJson | undefined
}

const typeOf = routeTypeMatcher(MODEL_ROUTES)

const FAILURES: { readonly [K in BodyFault['kind']]: ModelFailure } = {
  TooLarge: 'modelRequestTooLarge',
  UnknownEncoding: 'llmRequestEncoding',
  Invalid: 'modelRequestInvalid',
}

/** The whole body stays in the request. */
export async function readModelRequest({ request }: Exchange, bytesMax: number): Promise<ModelRequest | ModelFailure> {
  if (isSocket(request.path)) return withoutJson(new URLSearchParams(request.query).get('model') ?? '')
  const source = await collectBody(request, bytesMax)
  if (!Buffer.isBuffer(source)) return FAILURES[source.kind]
  request.body = source
  const bytes = await decodeBody(source, request, bytesMax)
  if (!Buffer.isBuffer(bytes)) return FAILURES[bytes.kind]
  const boundary = boundaryOf(request.headers.get('content-type'))
  if (boundary !== undefined) {
    return withoutJson(formField(bytes, boundary, 'model') ?? '')
  }
  const json = parseBody(bytes, source)
  if (!(json instanceof RequestJson)) return FAILURES[json.kind]
  const model = inPath(request.path) ?? asString(json.members['model'])
  return model === undefined || model === '' ? 'modelMissing' : { model, json }
}

function withoutJson(model: string): ModelRequest | ModelFailure {
  return model === '' ? 'modelMissing' : { model, json: undefined }
}

/** Requests of this type have no body: the model is in their query. */
function isSocket(path: string): boolean {
  const handling = HANDLING[typeOf(path)]
  return typeof handling !== 'string' && handling.transport === 'Socket'
}

function inPath(path: string): string | undefined {
  return generateUrl.read(path, '')?.model
}

/**
 * Rewrites the body only if it names another model, or names one twice, and a path or query that names the model. The
 * parsed body is passed on to the backend.
 */
export function askFor(exchange: Exchange, { json }: ModelRequest, model: string): void {
  const { request } = exchange
  if (isSocket(request.path)) {
    const query = new URLSearchParams(request.query)
    query.set('model', model)
    request.query = query.toString()
  }
  if (json === undefined) return
  const isInPath = inPath(request.path) !== undefined
  if (isInPath) request.path = generateUrl.withModel(request.path, model)
  if (!isInPath || Object.hasOwn(json.members, 'model')) json.members['model'] = model
  json.writeTo(exchange.request)
  exchange.parsedBody = json
}

/** RFC 2046 section 5.1.1: at most 70 characters. */
const BOUNDARY = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i

/** Of a form; undefined: the body is not a form. */
export function boundaryOf(contentType: string | undefined): string | undefined {
  const found = BOUNDARY.exec(contentType ?? '')
  return found?.[1] ?? found?.[2]
}

const PARTS_MAX = 64
const PART_HEAD_BYTES_MAX = 4096

/** The value of a field that is not a file. Reads only the heads of parts, so files are skipped. */
export function formField(body: Buffer, boundary: string, field: string): string | undefined {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter may stand at the very beginning.
  let start = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2)) ? 0 : body.indexOf(delimiter) + 2
  if (start === 1) return undefined
  for (let part = 0; part < PARTS_MAX; part++) {
    const headStart = start + delimiter.length - 2
    const headEnd = body.indexOf('\r\n\r\n', headStart)
    const end = body.indexOf(delimiter, headStart)
    if (headEnd === -1 || end === -1) return undefined
    if (headEnd < end && headEnd - headStart <= PART_HEAD_BYTES_MAX) {
      const head = body.toString('utf8', headStart, headEnd)
      if (isField(head, field)) return body.toString('utf8', headEnd + 4, end).trim()
    }
    start = end + 2
  }
  return undefined
}

function isField(head: string, field: string): boolean {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? ''
  const name = /;\s*name=(?:"([^"]*)"|([^\s;"]+))/i.exec(disposition)
  return (name?.[1] ?? name?.[2]) === field && !/;\s*filename\*?=/i.test(disposition)
}
