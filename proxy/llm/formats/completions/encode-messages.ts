// Turns of a request as messages of chat completions. Results of tools are messages of their own, right behind the
// calls, with text only: their images follow in a message of the user.
import type { TranslationNotes } from '../../canonical/format.ts'
import type {
  ChatRequest,
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import type { JsonObject } from '../../json.ts'
import { defined, unsupported } from '../fields.ts'
import { noteMarks } from '../marks.ts'
import { urlOf } from '../media.ts'

/** @throws {Untranslatable} */
export function encodeMessages({ turns }: ChatRequest, notes: TranslationNotes): readonly JsonObject[] {
  for (const { parts } of turns) for (const part of parts) noteMarks(part, notes)
  return turns.flatMap((turn) => encodeTurn(turn, notes))
}

function encodeTurn(turn: Turn, notes: TranslationNotes): readonly JsonObject[] {
  if (turn.role === 'assistant') return assistantMessage(turn.parts, notes)
  if (turn.role === 'system') return contentMessage('system', turn.parts)
  return userMessages(turn.parts, notes)
}

function userMessages(parts: readonly Part[], notes: TranslationNotes): readonly JsonObject[] {
  const results = parts.filter((part) => part.kind === 'toolResult')
  const media = results.flatMap(({ content }) => content.filter((part) => part.kind !== 'text'))
  const rest = parts.filter((part) => part.kind !== 'toolResult')
  return [...results.map((part) => toolMessage(part, notes)), ...contentMessage('user', [...media, ...rest])]
}

function toolMessage({ at, callId, isError, content }: ToolResultPart, notes: TranslationNotes): JsonObject {
  if (isError) notes.dropped(`${at}.is_error`, 'the format has only the text of a result')
  const texts = content.filter((part) => part.kind === 'text').map(({ text }) => text)
  const hasMedia = texts.length < content.length
  return { role: 'tool', tool_call_id: callId, content: texts.length === 0 && hasMedia ? SEE_BELOW : texts.join('') }
}

/** The result of a tool that returned only images. */
const SEE_BELOW = 'The result follows in the next message.'

/** A text alone is a string. */
function contentMessage(role: 'user' | 'system', parts: readonly Part[]): readonly JsonObject[] {
  const [first, ...others] = parts
  if (first === undefined) return []
  if (first.kind === 'text' && others.length === 0) return [{ role, content: first.text }]
  return [{ role, content: parts.map(encodePart) }]
}

/** @throws {Untranslatable} */
function encodePart(part: Part): JsonObject {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'image_url', image_url: defined({ url: url(part), detail: part.detail }) }
    case 'audio':
      return audioPart(part)
    case 'document':
      return filePart(part)
    case 'refusal':
    case 'reasoning':
    case 'toolCall':
    case 'toolResult':
    case 'opaque':
  }
  throw unsupported(part.at)
}

function url({ source, at }: MediaPart): string {
  const found = urlOf(source)
  if (found === undefined) throw unsupported(`${at}: a file of another provider`)
  return found
}

function audioPart({ source, at }: MediaPart): JsonObject {
  if (source.kind !== 'base64') throw unsupported(`${at}: audio by URL`)
  return { type: 'input_audio', input_audio: { data: source.data, format: source.mediaType.replace('audio/', '') } }
}

function filePart({ source, at, name }: MediaPart): JsonObject {
  if (source.kind === 'text') return { type: 'text', text: source.text }
  if (source.kind === 'url') throw unsupported(`${at}: a document by URL`)
  if (source.kind === 'file') {
    if (source.format !== 'Completions' && source.format !== 'Responses') {
      throw unsupported(`${at}: a file of another provider`)
    }
    return { type: 'file', file: { file_id: source.id } }
  }
  return { type: 'file', file: { filename: name ?? FILE_NAME, file_data: urlOf(source) } }
}

/** The format requires a name. */
const FILE_NAME = 'document.pdf'

function assistantMessage(parts: readonly Part[], notes: TranslationNotes): readonly JsonObject[] {
  const texts = parts.filter((part): part is TextPart => part.kind === 'text').map(({ text }) => text)
  const refusals = parts.filter((part) => part.kind === 'refusal').map(({ text }) => text)
  const calls = parts.filter((part) => part.kind === 'toolCall').map(toolCall)
  const reasoning = parts
    .filter((part) => part.kind === 'reasoning')
    .filter((part) => isOwn(part, notes))
    .map(({ text }) => text)
  const foreign = parts.find(({ kind }) => !ASSISTANT_PARTS.has(kind))
  if (foreign !== undefined) throw unsupported(foreign.at)
  if (texts.length + refusals.length + calls.length === 0) return []
  return [
    defined({
      role: 'assistant',
      content: texts.length === 0 ? null : texts.join(''),
      refusal: refusals.length === 0 ? undefined : refusals.join(''),
      reasoning_content: reasoning.length === 0 ? undefined : reasoning.join(''),
      tool_calls: calls.length === 0 ? undefined : calls,
    }),
  ]
}

const ASSISTANT_PARTS: ReadonlySet<Part['kind']> = new Set(['text', 'refusal', 'toolCall', 'reasoning'])

/** Providers of this format send reasoning without a signature, and some require it back with the calls of a tool. */
function isOwn({ signature, at }: ReasoningPart, notes: TranslationNotes): boolean {
  const own = signature === undefined || signature.format === 'Completions'
  if (!own) notes.dropped(at, 'reasoning with the signature of another provider')
  return own
}

function toolCall({ id, name, argumentsText }: ToolCallPart): JsonObject {
  return { id, type: 'function', function: { name, arguments: argumentsText === '' ? '{}' : argumentsText } }
}
