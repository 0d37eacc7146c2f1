// Turns of a request as instructions and input items of the responses format.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { ChatRequest, MediaPart, Part, ReasoningPart, ToolResultPart, Turn } from '../../canonical/request.ts'
import type { JsonObject } from '../../json.ts'
import { defined, unsupported } from '../fields.ts'
import { noteMarks } from '../marks.ts'
import { urlOf } from '../media.ts'
import { signedFields } from './reasoning.ts'

/** System texts at the beginning are instructions, later ones are messages. @throws {Untranslatable} */
export function encodeInput({ turns }: ChatRequest, notes: TranslationNotes): JsonObject {
  const found = turns.findIndex(({ role }) => role !== 'system')
  const count = found === -1 ? turns.length : found
  const system = turns.slice(0, count).map(({ parts }) => textOf(parts))
  for (const part of turns.flatMap(({ parts }) => parts)) noteMarks(part, notes)
  return {
    ...(system.length > 0 && { instructions: system.join('\n') }),
    input: turns.slice(count).flatMap((turn) => encodeTurn(turn, notes)),
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}

/** Parts of a message that follow each other become one item; calls, results and reasoning are items of their own. */
function encodeTurn({ role, parts }: Turn, notes: TranslationNotes): readonly JsonObject[] {
  const items: JsonObject[] = []
  let content: JsonObject[] | undefined
  for (const part of parts) {
    if (part.kind === 'toolCall' || part.kind === 'toolResult' || part.kind === 'reasoning') {
      content = undefined
      items.push(...ownItem(part, notes))
      continue
    }
    if (content === undefined) {
      content = []
      items.push({ type: 'message', role, content })
    }
    content.push(role === 'assistant' ? outputPart(part) : inputPart(part))
  }
  return items
}

type OwnItem = Extract<Part, { kind: 'toolCall' | 'toolResult' | 'reasoning' }>

function ownItem(part: OwnItem, notes: TranslationNotes): readonly JsonObject[] {
  if (part.kind === 'reasoning') return reasoningItem(part, notes)
  if (part.kind === 'toolResult') return [resultItem(part, notes)]
  const { id, name, argumentsText } = part
  return [{ type: 'function_call', call_id: id, name, arguments: argumentsText === '' ? '{}' : argumentsText }]
}

/** The vendor rejects reasoning without its own signature. */
function reasoningItem({ signature, text, at }: ReasoningPart, notes: TranslationNotes): readonly JsonObject[] {
  if (signature?.format !== 'Responses') {
    notes.dropped(at, 'reasoning without a signature of the provider')
    return []
  }
  const summary = text === '' ? [] : [{ type: 'summary_text', text }]
  return [{ type: 'reasoning', ...signedFields(signature, ''), summary }]
}

function resultItem({ at, callId, isError, content }: ToolResultPart, notes: TranslationNotes): JsonObject {
  if (isError) notes.dropped(`${at}.is_error`, 'the format has only the content of a result')
  const isText = content.every(({ kind }) => kind === 'text')
  return { type: 'function_call_output', call_id: callId, output: isText ? textOf(content) : content.map(inputPart) }
}

/** @throws {Untranslatable} */
function outputPart(part: Part): JsonObject {
  if (part.kind === 'text') return { type: 'output_text', text: part.text, annotations: [] }
  if (part.kind === 'refusal') return { type: 'refusal', refusal: part.text }
  throw unsupported(part.at)
}

/** @throws {Untranslatable} */
function inputPart(part: Part): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: part.text }
  if (part.kind === 'image')
    return { type: 'input_image', ...located(part, 'image_url'), detail: part.detail ?? 'auto' }
  if (part.kind === 'document') return filePart(part)
  throw unsupported(part.kind === 'audio' ? `${part.at}: audio` : part.at)
}

/** @param field: of its URL. @throws {Untranslatable} */
function located({ source, at }: MediaPart, field: string): JsonObject {
  if (source.kind !== 'file') return { [field]: urlOf(source) }
  if (source.format === 'Responses' || source.format === 'Completions') return { file_id: source.id }
  throw unsupported(`${at}: a file of another provider`)
}

function filePart(part: MediaPart): JsonObject {
  const { source, name } = part
  if (source.kind === 'text') return { type: 'input_text', text: source.text }
  if (source.kind === 'base64') return { type: 'input_file', filename: name ?? FILE_NAME, file_data: urlOf(source) }
  return defined({ type: 'input_file', ...located(part, 'file_url') })
}

/** The format requires a name. */
const FILE_NAME = 'document.pdf'
