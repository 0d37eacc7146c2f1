// Contents of a GenerateContent request as turns. Calls and their results need no ids in this format: results belong to
// the first call of the same function that has none yet.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type {
  MediaPart,
  MediaSource,
  Part,
  ReasoningPart,
  Signature,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import { argumentsText } from '../../canonical/tool-input.ts'
import { asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkFields, quoted, unsupported } from '../fields.ts'
import { normalType } from '../media.ts'
import { typeOfUrl } from './encode-contents.ts'
import { CALL_FIELDS, PART_FIELDS, RESULT_FIELDS } from './request-fields.ts'
import { fieldsOf, listOf } from './names.ts'
import { foreignSignature, signatureFor, type Signed } from './signature.ts'

/** A content, or only its text. @throws {Untranslatable} */
export function decodeSystem(value: unknown, notes: TranslationNotes): readonly Turn[] {
  const content = typeof value === 'string' ? [{ text: value }] : listOf(asObject(value)['parts'])
  const parts = content.map((one, index) => {
    const at = `systemInstruction.parts[${index}]`
    const part = fieldsOf(one)
    checkFields(part, { rules: PART_FIELDS, path: `${at}.`, notes })
    if (typeof part['text'] !== 'string') throw new Untranslatable(`${at} must be text`)
    return { kind: 'text' as const, at, text: part['text'] }
  })
  // Each is a turn, as formats that join the texts of a turn put nothing between them.
  return parts.filter(({ text }) => text !== '').map((part) => ({ role: 'system', parts: [part] }))
}

/** @throws {Untranslatable} */
export function decodeContents(contents: unknown, notes: TranslationNotes): readonly Turn[] {
  const calls = new Calls()
  const decoders: ContentDecoder[] = []
  for (const [index, content] of listOf(contents).entries()) {
    const { role, parts } = asObject(content)
    const at = `contents[${index}]`
    const name = roleOf(role, at)
    let decoder = decoders.at(-1)
    // Chats of the SDK send each piece of a stream back as a content.
    if (decoder === undefined || name === 'user' || decoder.turn.role === 'user') {
      decoder = new ContentDecoder(name, calls, notes)
      decoders.push(decoder)
    }
    for (const [place, part] of listOf(parts).entries()) decoder.part(fieldsOf(part), `${at}.parts[${place}]`)
  }
  return decoders.map(({ turn }) => turn).filter(({ parts }) => parts.length > 0)
}

function roleOf(role: unknown, at: string): 'user' | 'assistant' {
  const name = (asString(role) ?? 'user').toLowerCase()
  // Results of functions had a role of their own.
  if (name === 'user' || name === 'function') return 'user'
  if (name === 'model') return 'assistant'
  throw new Untranslatable(`${at}.role must be user or model`)
}

/** Calls without a result so far. */
class Calls {
  readonly #open: { readonly id: string; readonly name: string }[] = []
  #count = 0

  /** The id of a call; the same in each request with the same history. */
  add(given: string | undefined, name: string): string {
    const id = given ?? `call_${this.#count}`
    this.#count++
    this.#open.push({ id, name })
    return id
  }

  /** undefined: no call is open. */
  answer(given: string | undefined, name: string): string | undefined {
    const at = this.#open.findIndex((call) => (given === undefined ? call.name === name : call.id === given))
    return at === -1 ? given : this.#open.splice(at, 1)[0]?.id
  }
}

class ContentDecoder {
  readonly #parts: Part[] = []
  readonly #role: 'user' | 'assistant'
  readonly #calls: Calls
  readonly #notes: TranslationNotes

  constructor(role: 'user' | 'assistant', calls: Calls, notes: TranslationNotes) {
    this.#role = role
    this.#calls = calls
    this.#notes = notes
  }

  get turn(): Turn {
    return { role: this.#role, parts: this.#parts }
  }

  /** @throws {Untranslatable} */
  part(part: JsonObject, at: string): void {
    checkFields(part, { rules: PART_FIELDS, path: `${at}.`, notes: this.#notes })
    const { text, thought, functionCall, functionResponse, inlineData, fileData } = part
    const signature = asString(part['thoughtSignature']) ?? ''
    if (isRecord(functionCall)) this.#call(fieldsOf(functionCall), at, signature)
    else if (isRecord(functionResponse)) this.#parts.push(this.#result(fieldsOf(functionResponse), at))
    else if (isRecord(inlineData)) this.#media(inlinePart(fieldsOf(inlineData), at), signature)
    else if (isRecord(fileData)) this.#parts.push(filePart(fieldsOf(fileData), at))
    else if (typeof text !== 'string') throw unsupported(`${at} with ${quoted(Object.keys(part)[0] ?? 'no field')}`)
    else if (thought === true) this.#thought(text, at, signature)
    else this.#text(text, at, signature)
  }

  #call(call: JsonObject, at: string, signature: string): void {
    checkFields(call, { rules: CALL_FIELDS, path: `${at}.functionCall.`, notes: this.#notes })
    const name = asString(call['name']) ?? ''
    const id = this.#calls.add(idOf(call), name)
    this.#sign({ kind: 'call', id }, at, signature)
    const decoded: ToolCallPart = {
      kind: 'toolCall',
      at: `${at}.functionCall.args`,
      id,
      name,
      argumentsText: argumentsText(asObject(call['args'])),
    }
    this.#parts.push(decoded)
  }

  /** @throws {Untranslatable} */
  #result(result: JsonObject, at: string): ToolResultPart {
    const path = `${at}.functionResponse`
    checkFields(result, { rules: RESULT_FIELDS, path: `${path}.`, notes: this.#notes })
    const callId = this.#calls.answer(idOf(result), asString(result['name']) ?? '')
    if (callId === undefined) throw new Untranslatable(`${path} answers a function call that is not in front of it`)
    const { text, isError } = resultOf(asObject(result['response']))
    const media = listOf(result['parts']).map((one, index) => {
      const { inlineData, fileData } = fieldsOf(one)
      const place = `${path}.parts[${index}]`
      if (isRecord(inlineData)) return inlinePart(fieldsOf(inlineData), place)
      if (isRecord(fileData)) return filePart(fieldsOf(fileData), place)
      throw unsupported(place)
    })
    const texts: readonly TextPart[] = text === '' ? [] : [{ kind: 'text', at: path, text }]
    return { kind: 'toolResult', at: path, callId, isError, content: [...texts, ...media] }
  }

  #media(part: MediaPart, signature: string): void {
    if (part.kind === 'image') this.#sign({ kind: 'image' }, part.at, signature)
    this.#parts.push(part)
  }

  /** Streams are sent back in the pieces in which they came. */
  #text(text: string, at: string, signature: string): void {
    const last = this.#parts.at(-1)
    if (this.#role === 'assistant' && signature === '' && last?.kind === 'text') {
      this.#parts[this.#parts.length - 1] = { ...last, text: last.text + text }
      return
    }
    this.#sign({ kind: 'text' }, at, signature)
    if (text !== '') this.#parts.push({ kind: 'text', at, text })
  }

  #thought(text: string, at: string, signature: string): void {
    const open = this.#openThought()
    if (open === undefined) this.#parts.push(thoughts(text, at))
    else this.#parts[this.#parts.length - 1] = { ...open, text: open.text + text }
    this.#sign({ kind: 'thought' }, at, signature)
  }

  /** Signs the thoughts in front; else reasoning without a text. */
  #sign(signed: Signed, at: string, thoughtSignature: string): void {
    if (thoughtSignature === '') return
    const signature: Signature = foreignSignature(thoughtSignature) ?? signatureFor(signed, thoughtSignature)
    const open = this.#openThought()
    if (open === undefined) this.#parts.push({ ...thoughts('', at), signature })
    else this.#parts[this.#parts.length - 1] = { ...open, signature }
  }

  #openThought(): ReasoningPart | undefined {
    const last = this.#parts.at(-1)
    return last?.kind === 'reasoning' && last.signature === undefined ? last : undefined
  }
}

function thoughts(text: string, at: string): ReasoningPart {
  return { kind: 'reasoning', at, text, signature: undefined, isSummary: true }
}

function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** Google documents `output` and `error`; its libraries write `result`. Any other object is the result itself. */
function resultOf(response: JsonObject): { readonly text: string; readonly isError: boolean } {
  const names = Object.keys(response)
  const [name = ''] = names
  const value = response[name]
  const isOnly = names.length === 1 && typeof value === 'string'
  if (isOnly && ['output', 'result', 'error'].includes(name)) return { text: value, isError: name === 'error' }
  return { text: names.length === 0 ? '' : JSON.stringify(response), isError: false }
}

/** @throws {Untranslatable} */
function inlinePart({ mimeType, data, displayName }: JsonObject, at: string): MediaPart {
  if (typeof data !== 'string') throw new Untranslatable(`${at}.inlineData.data is missing`)
  const mediaType = normalType(asString(mimeType) ?? '')
  // Some clients send base64 for URLs.
  const base64 = /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data
  const source: MediaSource = { kind: 'base64', mediaType, data: base64 }
  return { kind: kindOf(mediaType, `${at}.inlineData`), at, source, name: asString(displayName) }
}

/** Files that Google keeps, and videos by URL, are for models of Google only. @throws {Untranslatable} */
function filePart(file: JsonObject, at: string): MediaPart {
  const path = `${at}.fileData`
  const { fileUri, mimeType, displayName } = file
  if (typeof fileUri !== 'string') throw new Untranslatable(`${path}.fileUri is missing`)
  const kind = kindOf(normalType(asString(mimeType) ?? typeOfUrl(fileUri) ?? ''), path)
  const source: MediaSource = OF_GOOGLE.test(fileUri)
    ? { kind: 'file', format: 'GenerateContent', id: fileUri }
    : { kind: 'url', url: fileUri }
  return { kind, at, source, name: asString(displayName) }
}

/** The Files API, Cloud Storage, and videos of YouTube, in each spelling that Google documents. */
const OF_GOOGLE =
  /^(?:gs:|files\/|https:\/\/(?:generativelanguage\.googleapis\.com|(?:www\.)?youtube\.com|youtu\.be)\/)/i

/** @throws {Untranslatable} */
function kindOf(mediaType: string, at: string): MediaPart['kind'] {
  if (mediaType.startsWith('image/')) return 'image'
  if (mediaType.startsWith('audio/')) return 'audio'
  if (mediaType.startsWith('video/')) throw unsupported(`${at} of the type ${quoted(mediaType)}`)
  return 'document'
}
