// The JSON body of an LLM request, read once: the models of a listener read the model in it and pass it to the
// backend of the model, which edits or translates it. Unedited bytes are forwarded unchanged.
import { isUtf8 } from 'node:buffer'
import { jsonExcess } from '#api/bounded-json.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ParsedBody } from '../exchange/slots.ts'
import { BodyTooLarge } from '../message/body.ts'
import { arrivedBody, TEXT_BYTES_MAX, textBody } from '../message/arrived-body.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import type { HttpRequest } from '../message/message.ts'
import { decode, DecodedTooLarge, isIdentity, UnknownEncoding } from './encoding.ts'
import { parseExactObject, type JsonObject } from './json.ts'
import { editedText, readJsonText, type JsonText } from './json-text.ts'

/** Why a body cannot be read; `detail` is for the client. */
export interface BodyFault {
  readonly kind: 'Invalid' | 'TooLarge' | 'UnknownEncoding'
  readonly detail: string
}

export class RequestJson implements ParsedBody {
  #json: JsonText
  /** The parsed value of `bytes`. */
  #text: string
  /** Text of ASCII may be a string. */
  #bytes: Buffer | string
  #source: Buffer | undefined

  /** `source`: the body of the request, unless it was taken; `bytes`: without its encoding. */
  constructor(json: JsonText, bytes: Buffer | string, source: Buffer | undefined) {
    this.#json = json
    this.#text = json.received
    this.#bytes = bytes
    this.#source = source
  }

  /** To be changed on the first level, by replacement. */
  get members(): JsonObject {
    return this.#json.members
  }

  /** The members before all changes. */
  get original(): Readonly<JsonObject> {
    return this.#json.original
  }

  /** The members for a translation: whole numbers that a double does not hold are written as they came. */
  exactMembers(): JsonObject {
    const { members, hasLongNumber } = this.#json
    // Most bodies have none, and are not parsed again.
    return hasLongNumber ? (parseExactObject(editedText(this.#json)) ?? members) : members
  }

  /**
   * `edit` gets the members with all changes so far and returns the new ones, which may differ at any depth where its
   * objects are copies.
   */
  replace(edit: (members: JsonObject) => JsonObject): void {
    const current = readJsonText(editedText(this.#json)) ?? this.#json
    const members = edit(current.members)
    if (members !== current.members) this.#json = { ...current, members }
  }

  isOf({ body }: HttpRequest): boolean {
    return body !== undefined && body === this.#source
  }

  /** The value of the members: the original body if they are equal. */
  toBody(): Buffer | string {
    const text = editedText(this.#json)
    return text === this.#text ? this.#bytes : textBody(text)
  }

  /** Sets the body of the request to the value of the members. */
  writeTo(request: HttpRequest): void {
    const text = editedText(this.#json)
    if (text === this.#text) return
    const bytes = Buffer.from(text)
    this.#text = text
    this.#bytes = bytes
    this.#source = bytes
    request.body = bytes
    for (const name of ['content-length', 'content-encoding']) request.headers.remove(name)
  }
}

/** The original body; a promise if it has not arrived yet. */
export function collectBody({ body }: HttpRequest, bytesMax: number): Buffer | BodyFault | Promise<Buffer | BodyFault> {
  if (body === undefined) return { kind: 'Invalid', detail: 'the body is empty' }
  if (Buffer.isBuffer(body)) return body
  const arrived = body instanceof IncomingBody ? body.takeBytes(bytesMax) : undefined
  return arrived ?? body.collect(bytesMax).catch(faultOf)
}

/** A body without its encoding. */
export async function decodeBody(
  source: Buffer,
  { headers }: HttpRequest,
  bytesMax: number,
): Promise<Buffer | BodyFault> {
  try {
    return await decode(source, headers.get('content-encoding'), bytesMax)
  } catch (error) {
    return faultOf(error)
  }
}

export function parseBody(bytes: Buffer, source: Buffer | undefined): RequestJson | BodyFault {
  if (!isUtf8(bytes)) return { kind: 'Invalid', detail: 'the body is not valid UTF-8' }
  return parseText(bytes.toString('utf8'), bytes, source)
}

function parseText(text: string, bytes: Buffer | string, source: Buffer | undefined): RequestJson | BodyFault {
  const json = readJsonText(text)
  if (json !== undefined) return new RequestJson(json, bytes, source)
  return { kind: 'Invalid', detail: jsonExcess(text) ?? 'the body is not a JSON object' }
}

/** The parsed body, unless the request has another one by now; the caller may change it. */
export function takeRequestJson(exchange: Exchange): RequestJson | undefined {
  const { parsedBody, request } = exchange
  exchange.parsedBody = undefined
  return parsedBody instanceof RequestJson && parsedBody.isOf(request) ? parsedBody : undefined
}

/** A promise if the body has not arrived yet, or is encoded. */
export function readRequestJson(
  request: HttpRequest,
  bytesMax: number,
): RequestJson | BodyFault | Promise<RequestJson | BodyFault> {
  const { body, headers } = request
  const isEncoded = !isIdentity(headers.get('content-encoding'))
  if (!isEncoded && body instanceof IncomingBody) {
    const arrived = arrivedBody(body, Math.min(bytesMax, TEXT_BYTES_MAX))
    // Neither copied to a buffer nor decoded: most bodies are short and of ASCII.
    if (typeof arrived === 'string') return parseText(arrived, arrived, undefined)
    if (arrived !== undefined) return parseBody(arrived, undefined)
  }
  const source = collectBody(request, bytesMax)
  const read = (whole: Buffer | BodyFault): RequestJson | BodyFault | Promise<RequestJson | BodyFault> => {
    if (!Buffer.isBuffer(whole)) return whole
    return isEncoded ? decodedJson(whole, request, bytesMax) : parseBody(whole, whole)
  }
  return source instanceof Promise ? source.then(read) : read(source)
}

async function decodedJson(source: Buffer, request: HttpRequest, bytesMax: number): Promise<RequestJson | BodyFault> {
  const bytes = await decodeBody(source, request, bytesMax)
  return Buffer.isBuffer(bytes) ? parseBody(bytes, source) : bytes
}

function faultOf(error: unknown): BodyFault {
  if (error instanceof BodyTooLarge || error instanceof DecodedTooLarge) {
    return { kind: 'TooLarge', detail: error.message }
  }
  if (error instanceof UnknownEncoding) return { kind: 'UnknownEncoding', detail: error.message }
  return { kind: 'Invalid', detail: 'the body could not be read' }
}
