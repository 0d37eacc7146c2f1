// Messages of a chat-completions request as turns. A message of the role `tool` is a part of a turn of the user.
import type { TranslationNotes } from '../../canonical/format.ts'
import type {
  MediaPart,
  Part,
  RefusalPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkFields, markOf, quoted, unsupported } from '../fields.ts'
import { fileSource, mediaOf, normalType } from '../media.ts'
import { MESSAGE_FIELDS, PART_FIELDS } from './fields.ts'
import { decodeReasoning } from './thinking.ts'

type ContentPart = TextPart | MediaPart | RefusalPart

/** @throws {Untranslatable} */
export function decodeMessages(messages: readonly unknown[], notes: TranslationNotes): readonly Turn[] {
  return messages.map((item, index) => {
    const message = asObject(item)
    const at = `messages[${index}]`
    checkFields(message, { rules: MESSAGE_FIELDS, path: `${at}.`, notes })
    const { role, parts } = decodeMessage(message, at, notes)
    return { role, parts: marked(parts, message) }
  })
}

/** The mark of a whole message is at its last part. */
function marked(parts: readonly Part[], message: JsonObject): readonly Part[] {
  const cache = markOf(message)
  return cache === undefined ? parts : parts.map((part, at) => (at === parts.length - 1 ? { ...part, cache } : part))
}

function decodeMessage(message: JsonObject, at: string, notes: TranslationNotes): Turn {
  const { role, content } = message
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: systemParts(content, at, notes) }
    case 'user':
      return { role, parts: decodeContent(content, at, notes) }
    case 'assistant':
      return { role, parts: assistantParts(message, at, notes) }
    case 'tool':
      return { role: 'user', parts: [toolResult(message, at, notes)] }
    default:
      throw new Untranslatable(`${at}.role must be system, developer, user, assistant or tool`)
  }
}

function systemParts(content: unknown, at: string, notes: TranslationNotes): readonly Part[] {
  const parts = decodeContent(content, at, notes)
  if (parts.some(({ kind }) => kind !== 'text')) {
    throw new Untranslatable(`${at}.content of a system message must be text`)
  }
  return parts
}

function assistantParts(message: JsonObject, at: string, notes: TranslationNotes): readonly Part[] {
  const { content, refusal } = message
  return [
    ...decodeReasoning(message, at),
    ...(content === null || content === undefined ? [] : decodeContent(content, at, notes)),
    ...refusalParts(asString(refusal), `${at}.refusal`),
    ...asArray(message['images']).map((one, index) =>
      image(asObject(asObject(one)['image_url']), `${at}.images[${index}]`),
    ),
    ...asArray(message['tool_calls']).map((call, index) => toolCall(asObject(call), `${at}.tool_calls[${index}]`)),
  ]
}

function refusalParts(text: string | undefined, at: string): readonly RefusalPart[] {
  return text === undefined || text === '' ? [] : [{ kind: 'refusal', at, text }]
}

function toolCall(call: JsonObject, at: string): ToolCallPart {
  const type = call['type'] ?? 'function'
  if (type !== 'function') throw unsupported(`${at}.type ${quoted(type)}`)
  const fn = asObject(call['function'])
  return {
    kind: 'toolCall',
    at: `${at}.function.arguments`,
    id: asString(call['id']) ?? '',
    name: asString(fn['name']) ?? '',
    argumentsText: asString(fn['arguments']) ?? '',
  }
}

function toolResult(message: JsonObject, at: string, notes: TranslationNotes): ToolResultPart {
  const callId = asString(message['tool_call_id'])
  if (callId === undefined) throw new Untranslatable(`${at}.tool_call_id is missing`)
  const content = decodeContent(message['content'], at, notes).map((part) =>
    part.kind === 'refusal' ? { kind: 'text' as const, at: part.at, text: part.text } : part,
  )
  return { kind: 'toolResult', at, callId, isError: false, content }
}

function decodeContent(content: unknown, at: string, notes: TranslationNotes): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', at: `${at}.content`, text: content }]
  if (!Array.isArray(content)) throw new Untranslatable(`${at}.content must be a string or a list of parts`)
  return content.flatMap((item: unknown, index) => {
    const part = asObject(item)
    const path = `${at}.content[${index}]`
    checkFields(part, { rules: PART_FIELDS, path: `${path}.`, notes })
    const cache = markOf(part)
    const decoded = decodePart(part, path)
    return cache === undefined ? decoded : decoded.map((one) => ({ ...one, cache }))
  })
}

function decodePart(part: JsonObject, at: string): readonly ContentPart[] {
  switch (part['type']) {
    case 'text':
      return [{ kind: 'text', at, text: asString(part['text']) ?? '' }]
    case 'refusal':
      return refusalParts(asString(part['refusal']), at)
    case 'image_url':
      return [image(asObject(part['image_url']), at)]
    case 'input_audio':
      return [audio(asObject(part['input_audio']), at)]
    case 'file':
      return [file(asObject(part['file']), at)]
    default:
      throw unsupported(`${at}.type ${quoted(part['type'])}`)
  }
}

function image({ url, detail }: JsonObject, at: string): MediaPart {
  if (typeof url !== 'string') throw new Untranslatable(`${at}.image_url.url is missing`)
  return { kind: 'image', at, source: mediaOf(url), detail: asString(detail) }
}

function audio({ data, format }: JsonObject, at: string): MediaPart {
  if (typeof data !== 'string') throw new Untranslatable(`${at}.input_audio.data is missing`)
  const mediaType = normalType(`audio/${asString(format) ?? ''}`)
  return { kind: 'audio', at, source: { kind: 'base64', mediaType, data } }
}

function file({ file_data: data, file_id: id, filename }: JsonObject, at: string): MediaPart {
  const base: Pick<MediaPart, 'kind' | 'at' | 'name'> = { kind: 'document', at, name: asString(filename) }
  if (typeof data === 'string') return { ...base, source: fileSource(data) }
  if (typeof id === 'string') return { ...base, source: { kind: 'file', format: 'Completions', id } }
  throw new Untranslatable(`${at}.file has neither file_data nor file_id`)
}
