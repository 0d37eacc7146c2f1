// System texts and messages of a messages request as turns.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { MediaPart, MediaSource, Part, TextPart, ToolResultPart, Turn } from '../../canonical/request.ts'
import { argumentsText } from '../../canonical/tool-input.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkFields, isSet, markOf, quoted, unsupported } from '../fields.ts'
import { normalType } from '../media.ts'
import { decodeCitation } from './citations.ts'
import { BLOCK_FIELDS } from './fields.ts'
import { signatureOf } from './thinking.ts'

/** Each block is a turn, as formats that join the texts of a turn put nothing between them. */
export function decodeSystem(system: unknown, notes: TranslationNotes): readonly Turn[] {
  if (typeof system === 'string') return [{ role: 'system', parts: [{ kind: 'text', at: 'system', text: system }] }]
  return asArray(system).map((block, index) => ({
    role: 'system',
    parts: decodeBlocks([block], `system[${index}]`, { notes, isList: false }),
  }))
}

/** @throws {Untranslatable} */
export function decodeTurns(messages: readonly unknown[], notes: TranslationNotes): readonly Turn[] {
  return messages.map((item, index) => {
    const { role, content } = asObject(item)
    const at = `messages[${index}]`
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      throw new Untranslatable(`${at}.role must be user, assistant or system`)
    }
    return { role, parts: decodeContent(content, `${at}.content`, notes) }
  })
}

function decodeContent(content: unknown, at: string, notes: TranslationNotes): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', at, text: content }]
  if (!Array.isArray(content)) throw new Untranslatable(`${at} must be a string or a list of blocks`)
  return decodeBlocks(content, at, { notes, isList: true })
}

function decodeBlocks(
  blocks: readonly unknown[],
  path: string,
  { notes, isList }: { readonly notes: TranslationNotes; readonly isList: boolean },
): readonly Part[] {
  return blocks.map((item, index) => {
    const block = asObject(item)
    const at = isList ? `${path}[${index}]` : path
    const part = decodeBlock(block, at, notes)
    if (part.kind !== 'opaque') checkFields(block, { rules: BLOCK_FIELDS, path: `${at}.`, notes })
    const cache = markOf(block)
    return cache === undefined ? part : { ...part, cache }
  })
}

function decodeBlock(block: JsonObject, at: string, notes: TranslationNotes): Part {
  switch (block['type']) {
    case 'text':
      return text(block, at)
    case 'image':
      return { kind: 'image', at, source: sourceOf(asObject(block['source']), at) }
    case 'document':
      return document(block, at)
    case 'thinking':
    case 'redacted_thinking': {
      const thinking = asString(block['thinking']) ?? ''
      return { kind: 'reasoning', at, text: thinking, signature: signatureOf(block), isSummary: true }
    }
    case 'tool_use':
      return {
        kind: 'toolCall',
        at: `${at}.input`,
        id: asString(block['id']) ?? '',
        name: asString(block['name']) ?? '',
        argumentsText: argumentsText(asObject(block['input'])),
      }
    case 'tool_result':
      return toolResult(block, at, notes)
    default:
      return { kind: 'opaque', at: `${at}.type ${quoted(block['type'])}`, format: 'Messages', value: block }
  }
}

function text(block: JsonObject, at: string): TextPart {
  const citations = asArray(block['citations']).map(decodeCitation)
  const value = asString(block['text']) ?? ''
  return { kind: 'text', at, text: value, ...(citations.length > 0 && { citations }) }
}

function document(block: JsonObject, at: string): MediaPart {
  const { context, citations } = block
  if (isSet(context)) throw unsupported(`${at}.context`)
  if (asObject(citations)['enabled'] === true) throw unsupported(`${at}.citations`)
  return { kind: 'document', at, source: sourceOf(asObject(block['source']), at), name: asString(block['title']) }
}

/** @throws {Untranslatable} */
function sourceOf(source: JsonObject, at: string): MediaSource {
  const { type, data, url, file_id: id } = source
  if (type === 'base64' && typeof data === 'string') {
    return { kind: 'base64', mediaType: normalType(asString(source['media_type']) ?? ''), data }
  }
  if (type === 'text' && typeof data === 'string') return { kind: 'text', text: data }
  if (type === 'url' && typeof url === 'string') return { kind: 'url', url }
  if (type === 'file' && typeof id === 'string') return { kind: 'file', format: 'Messages', id }
  throw unsupported(`${at}.source.type ${quoted(type)}`)
}

function toolResult(block: JsonObject, at: string, notes: TranslationNotes): ToolResultPart {
  const callId = asString(block['tool_use_id'])
  if (callId === undefined) throw new Untranslatable(`${at}.tool_use_id is missing`)
  const content = isSet(block['content']) ? decodeContent(block['content'], `${at}.content`, notes) : []
  return {
    kind: 'toolResult',
    at,
    callId,
    isError: block['is_error'] === true,
    content: content.map((part) => {
      if (part.kind === 'text' || part.kind === 'opaque' || isMedia(part)) return part
      throw unsupported(`${part.at} in the result of a tool`)
    }),
  }
}

function isMedia(part: Part): part is MediaPart {
  return part.kind === 'image' || part.kind === 'document' || part.kind === 'audio'
}
