// Turns of a request as contents of GenerateContent: system texts become a separate field, neighbours of one role
// become one content, and signatures go back to the parts that Google had them on.
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../../canonical/format.ts'
import type {
  ChatRequest,
  MediaPart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/request.ts'
import { toolInput } from '../../canonical/tool-input.ts'
import { parseExactObject, type JsonObject } from '../../json.ts'
import { traitsOf } from '../../traits/table.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { defined, unsupported } from '../fields.ts'
import { noteMarks } from '../marks.ts'
import { ownSignature, type OwnSignature } from './signature.ts'

export interface EncodedContents {
  readonly contents: readonly JsonObject[]
  readonly system: JsonObject | undefined
}

/** Accepted instead of a signature, for calls of other models in the history; documented by the vendor. */
const UNSIGNED_CALL = 'skip_thought_signature_validator'

interface Content {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
  readonly signatures: OwnSignature[]
}

/** @throws {Untranslatable} */
export function encodeContents(request: ChatRequest, notes: TranslationNotes): EncodedContents {
  const encoder = new Encoder(request.model, notes)
  const system: JsonObject[] = []
  const contents: Content[] = []
  for (const { role, parts } of request.turns) {
    for (const part of parts) noteMarks(part, notes)
    if (role === 'system') {
      system.push(...parts.filter((part) => part.kind === 'text').flatMap((part) => encoder.text(part)))
      continue
    }
    const own = role === 'user' ? 'user' : 'model'
    const content: Content = { role: own, parts: [], signatures: [] }
    for (const part of parts) content.parts.push(...encoder.part(part, content.signatures))
    const last = contents.at(-1)
    // Results of parallel tool calls must come in one content.
    if (last?.role === own) {
      last.parts.push(...content.parts)
      last.signatures.push(...content.signatures)
    } else if (content.parts.length + content.signatures.length > 0) contents.push(content)
  }
  if (contents.length === 0) throw new Untranslatable(`${request.turnsAt} has only system messages`)
  return {
    contents: contents.map(({ role, parts, signatures }) => ({
      role,
      parts:
        role === 'model'
          ? signed(parts, signatures, traitsOf(request.model).requiresCallSignatures)
          : resultsFirst(parts),
    })),
    system: system.length === 0 ? undefined : { parts: system },
  }
}

class Encoder {
  readonly #hasMediaInResults: boolean
  readonly #notes: TranslationNotes
  /** Names of the calls so far, by id: results have no name in other formats. */
  readonly #names = new Map<string, string>()

  constructor(model: string, notes: TranslationNotes) {
    this.#hasMediaInResults = traitsOf(model).requiresCallSignatures
    this.#notes = notes
  }

  part(part: Part, signatures: OwnSignature[]): readonly JsonObject[] {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.text(part)
      case 'image':
      case 'document':
      case 'audio':
        return [mediaPart(part)]
      case 'toolCall':
        return [this.#call(part)]
      case 'toolResult':
        return this.#result(part)
      case 'reasoning':
        return this.#reasoning(part, signatures)
      case 'opaque':
    }
    if (part.format === 'GenerateContent') return [part.value]
    throw unsupported(part.at)
  }

  text({ text }: { readonly text: string }): readonly JsonObject[] {
    return text === '' ? [] : [{ text }]
  }

  #call({ id, name, argumentsText }: ToolCallPart): JsonObject {
    this.#names.set(id, name)
    return { functionCall: { id, name, args: toolInput(argumentsText) } }
  }

  /** Older models take media behind the result. */
  #result({ callId, content, isError, at }: ToolResultPart): readonly JsonObject[] {
    const name = this.#names.get(callId)
    if (name === undefined) throw new Untranslatable(`${at} answers a tool call that is not in front of it`)
    const text = content.map((part) => (part.kind === 'text' ? part.text : '')).join('')
    const media = content.flatMap((part) => (part.kind === 'text' ? [] : this.part(part, [])))
    const response = isError ? { error: text } : (parseExactObject(text) ?? { output: text })
    const isWithin = this.#hasMediaInResults && media.length > 0
    const result = { functionResponse: { id: callId, name, response, ...(isWithin && { parts: media }) } }
    return isWithin ? [result] : [result, ...media]
  }

  #reasoning({ text, signature, at }: ReasoningPart, signatures: OwnSignature[]): readonly JsonObject[] {
    const own = ownSignature(signature)
    if (own === undefined) {
      this.#notes.dropped(at, 'reasoning without a signature of the provider')
      return []
    }
    if (own.signed.kind !== 'thought') signatures.push(own)
    if (text === '') return []
    return [{ text, thought: true, ...(own.signed.kind === 'thought' && { thoughtSignature: own.value }) }]
  }
}

/** Media, which may stand behind the result of an older model, stay behind all results. */
function resultsFirst(parts: readonly JsonObject[]): readonly JsonObject[] {
  const isResult = (part: JsonObject): boolean => Object.hasOwn(part, 'functionResponse')
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]
}

function signed(
  parts: readonly JsonObject[],
  signatures: readonly OwnSignature[],
  isRequired: boolean,
): readonly JsonObject[] {
  const out = [...parts]
  for (const { signed: target, value } of signatures) {
    const at =
      target.kind === 'image'
        ? out.findIndex((part) => Object.hasOwn(part, 'inlineData') && part['thoughtSignature'] === undefined)
        : out.findLastIndex((part) =>
            target.kind === 'call'
              ? callIdOf(part) === target.id
              : Object.hasOwn(part, 'text') && part['thought'] !== true,
          )
    if (at !== -1) out[at] = { ...out[at], thoughtSignature: value }
    else if (target.kind === 'text') out.push({ text: '', thoughtSignature: value })
  }
  // Only the first of parallel calls has one.
  const first = out.findIndex((part) => Object.hasOwn(part, 'functionCall'))
  const call = out[first]
  if (isRequired && call !== undefined && call['thoughtSignature'] === undefined) {
    out[first] = { ...call, thoughtSignature: UNSIGNED_CALL }
  }
  return out
}

function callIdOf({ functionCall }: JsonObject): unknown {
  return isRecord(functionCall) ? functionCall['id'] : undefined
}

/** @throws {Untranslatable} */
function mediaPart({ source, at }: MediaPart): JsonObject {
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'text':
      return { text: source.text }
    case 'url':
      return { fileData: defined({ fileUri: source.url, mimeType: typeOfUrl(source.url) }) }
    case 'file':
  }
  if (source.format !== 'GenerateContent') throw unsupported(`${at}: a file of another provider`)
  return { fileData: { fileUri: source.id } }
}

const TYPES: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  heic: 'image/heic',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  mp3: 'audio/mp3',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  wav: 'audio/wav',
  webp: 'image/webp',
}

/** By the end of the path: the other formats have no type. undefined: the vendor finds it. */
export function typeOfUrl(url: string): string | undefined {
  const end = /\.([a-z0-9]{1,5})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase()
  return end !== undefined && Object.hasOwn(TYPES, end) ? TYPES[end] : undefined
}
