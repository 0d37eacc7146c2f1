// Instructions and input of a responses request as turns. Items of the model that follow each other are one turn, and
// so are results of tools.
import type { TranslationNotes } from '../../canonical/format.ts'
import type { MediaPart, Part, RefusalPart, TextPart, ToolResultPart, Turn } from '../../canonical/request.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { checkFields, quoted, unsupported } from '../fields.ts'
import { fileSource, imageTypeOf, mediaOf, normalType } from '../media.ts'
import { ITEM_FIELDS, PART_FIELDS } from './fields.ts'
import { flatName } from './namespaces.ts'
import { reasoningOf, sentSignatureOf } from './reasoning.ts'

/** @throws {Untranslatable} */
export function decodeInput({ instructions, input }: JsonObject, notes: TranslationNotes): readonly Turn[] {
  const turns: { readonly role: Turn['role']; readonly parts: Part[] }[] = []
  if (typeof instructions === 'string' && instructions !== '') {
    turns.push({ role: 'system', parts: [{ kind: 'text', at: 'instructions', text: instructions }] })
  }
  if (typeof input === 'string') {
    return [...turns, { role: 'user', parts: input === '' ? [] : [{ kind: 'text', at: 'input', text: input }] }]
  }
  for (const [index, item] of asArray(input).entries()) {
    const { role, parts } = decodeItem(asObject(item), `input[${index}]`, notes)
    const last = turns.at(-1)
    // A turn that has one result has nothing else.
    const isContinued = role === 'assistant' || [...(last?.parts.slice(0, 1) ?? []), ...parts].every(isResult)
    if (last?.role === role && isContinued) {
      last.parts.push(...parts)
    } else turns.push({ role, parts: [...parts] })
  }
  return turns
}

function isResult({ kind }: Part): boolean {
  return kind === 'toolResult'
}

function decodeItem(item: JsonObject, at: string, notes: TranslationNotes): Turn {
  const type = item['type'] ?? 'message'
  const check = { rules: ITEM_FIELDS, path: `${at}.`, notes }
  switch (type) {
    case 'message':
      checkFields(item, check)
      return { role: roleOf(item['role'], at), parts: decodeContent(item['content'], `${at}.content`, notes) }
    case 'function_call':
      checkFields(item, check)
      return { role: 'assistant', parts: [functionCall(item, at)] }
    case 'function_call_output':
      checkFields(item, check)
      return { role: 'user', parts: [callOutput(item, at, notes)] }
    case 'reasoning':
      checkFields(item, check)
      return {
        role: 'assistant',
        parts: [{ kind: 'reasoning', at, ...reasoningOf(item), signature: sentSignatureOf(item) }],
      }
    case 'image_generation_call':
      checkFields(item, check)
      return { role: 'assistant', parts: generatedImage(item, at) }
    default:
      throw unsupported(`${at}.type ${quoted(type)}`)
  }
}

/** An image of an earlier answer. */
function generatedImage({ result, output_format: format }: JsonObject, at: string): readonly MediaPart[] {
  if (typeof result !== 'string') return []
  const mediaType = typeof format === 'string' ? normalType(`image/${format}`) : imageTypeOf(result)
  return [{ kind: 'image', at, source: { kind: 'base64', mediaType, data: result } }]
}

function roleOf(role: unknown, at: string): Turn['role'] {
  if (role === 'system' || role === 'developer') return 'system'
  if (role === 'user' || role === 'assistant') return role
  throw new Untranslatable(`${at}.role must be system, developer, user or assistant`)
}

function functionCall(item: JsonObject, at: string): Part {
  const namespace = asString(item['namespace'])
  const name = asString(item['name']) ?? ''
  return {
    kind: 'toolCall',
    at: `${at}.arguments`,
    id: asString(item['call_id']) ?? '',
    name: namespace === undefined ? name : flatName({ namespace, name }),
    argumentsText: asString(item['arguments']) ?? '',
  }
}

function callOutput(item: JsonObject, at: string, notes: TranslationNotes): ToolResultPart {
  const callId = asString(item['call_id'])
  if (callId === undefined) throw new Untranslatable(`${at}.call_id is missing`)
  const content = decodeContent(item['output'], `${at}.output`, notes).map((part) =>
    part.kind === 'refusal' ? { kind: 'text' as const, at: part.at, text: part.text } : part,
  )
  return { kind: 'toolResult', at, callId, isError: false, content }
}

type ContentPart = TextPart | MediaPart | RefusalPart

function decodeContent(content: unknown, at: string, notes: TranslationNotes): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', at, text: content }]
  if (!Array.isArray(content)) throw new Untranslatable(`${at} must be a string or a list of parts`)
  return content.map((item: unknown, index) => {
    const part = asObject(item)
    const path = `${at}[${index}]`
    checkFields(part, { rules: PART_FIELDS, path: `${path}.`, notes })
    return decodePart(part, path)
  })
}

function decodePart(part: JsonObject, at: string): ContentPart {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { kind: 'text', at, text: asString(part['text']) ?? '' }
    case 'refusal':
      return { kind: 'refusal', at, text: asString(part['refusal']) ?? '' }
    case 'input_image':
      return image(part, at)
    case 'input_file':
      return file(part, at)
    default:
      throw unsupported(`${at}.type ${quoted(part['type'])}`)
  }
}

function image({ image_url: url, file_id: id, detail }: JsonObject, at: string): MediaPart {
  if (typeof url === 'string') return { kind: 'image', at, source: mediaOf(url), detail: asString(detail) }
  if (typeof id === 'string') return { kind: 'image', at, source: { kind: 'file', format: 'Responses', id } }
  throw new Untranslatable(`${at} has neither image_url nor file_id`)
}

function file({ file_data: data, file_url: url, file_id: id, filename }: JsonObject, at: string): MediaPart {
  const base: Pick<MediaPart, 'kind' | 'at' | 'name'> = { kind: 'document', at, name: asString(filename) }
  if (typeof data === 'string') return { ...base, source: fileSource(data) }
  if (typeof url === 'string') return { ...base, source: { kind: 'url', url } }
  if (typeof id === 'string') return { ...base, source: { kind: 'file', format: 'Responses', id } }
  throw new Untranslatable(`${at} has neither file_data, file_url nor file_id`)
}
