// Messages of a chat-completions request in the messages format: system texts become a separate field, results of
// parallel tool calls one message, and empty parts are dropped, because vendors reject them.
import { asArray, asObject, asString, parseExactObject, type JsonObject } from '../json.ts'
import { checkFields, MESSAGE_FIELDS, PART_FIELDS } from './completions-fields.ts'
import { Untranslatable } from './untranslatable.ts'

export interface ConvertedMessages {
  /** Blocks only where one of them marks the end of what is cached. */
  readonly system: string | readonly JsonObject[] | undefined
  readonly messages: readonly Message[]
}

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

/** @throws {Untranslatable} */
export function convertMessages(list: readonly unknown[]): ConvertedMessages {
  const system: JsonObject[] = []
  const messages: Message[] = []
  for (const [index, item] of list.entries()) {
    const message = asObject(item)
    const path = `messages[${index}]`
    checkFields(message, MESSAGE_FIELDS, `${path}.`)
    if (message['role'] === 'system' || message['role'] === 'developer') {
      system.push(...systemBlocks(message, path))
      continue
    }
    const converted = convertMessage(message, path)
    if (converted.content.length === 0) continue
    const last = messages.at(-1)
    // Results of parallel tool calls must come in one user message.
    if (last !== undefined && last.role === converted.role) last.content.push(...converted.content)
    else messages.push(converted)
  }
  if (messages.length === 0) throw new Untranslatable('messages has only system messages')
  return { system: systemOf(system), messages }
}

function systemOf(blocks: readonly JsonObject[]): ConvertedMessages['system'] {
  if (blocks.length === 0) return undefined
  if (blocks.some((block) => Object.hasOwn(block, 'cache_control'))) return blocks
  return blocks.map((block) => block['text']).join('\n')
}

/** One block a message, unless parts of it are marked. */
function systemBlocks(message: JsonObject, path: string): JsonObject[] {
  const blocks = marked(convertContent(message['content'], path), message)
  for (const block of blocks) {
    if (block['type'] !== 'text') throw new Untranslatable(`${path}.content of a system message must be text`)
  }
  if (blocks.length === 0 || blocks.some((block) => Object.hasOwn(block, 'cache_control'))) return blocks
  return [{ type: 'text', text: joinedText(blocks) }]
}

function convertMessage(message: JsonObject, path: string): Message {
  const { role, content } = message
  if (role === 'user') return { role, content: marked(convertContent(content, path), message) }
  if (role === 'assistant') return { role, content: marked(assistantBlocks(message, path), message) }
  if (role === 'tool') return { role: 'user', content: marked([toolResult(message, path)], message) }
  throw new Untranslatable(`${path}.role must be system, developer, user, assistant or tool`)
}

function assistantBlocks(message: JsonObject, path: string): JsonObject[] {
  const { content, refusal } = message
  return [
    ...(content === null || content === undefined ? [] : convertContent(content, path)),
    ...textBlocks(asString(refusal) ?? ''),
    ...asArray(message['tool_calls']).map((call, at) => toolUse(asObject(call), `${path}.tool_calls[${at}]`)),
  ]
}

function toolResult(message: JsonObject, path: string): JsonObject {
  const id = asString(message['tool_call_id'])
  if (id === undefined) throw new Untranslatable(`${path}.tool_call_id is missing`)
  const blocks = convertContent(message['content'], path)
  const isText = blocks.every((block) => block['type'] === 'text' && !Object.hasOwn(block, 'cache_control'))
  const content = isText ? joinedText(blocks) : blocks
  return { type: 'tool_result', tool_use_id: id, ...(content.length > 0 && { content }) }
}

/** The mark of a whole message is at its last block. */
function marked(blocks: JsonObject[], { cache_control: mark }: JsonObject): JsonObject[] {
  const last = blocks.at(-1)
  if (last !== undefined && mark !== undefined && mark !== null) last['cache_control'] = mark
  return blocks
}

function convertContent(content: unknown, path: string): JsonObject[] {
  if (typeof content === 'string') return textBlocks(content)
  if (!Array.isArray(content)) throw new Untranslatable(`${path}.content must be a string or a list of parts`)
  return content.flatMap((item: unknown, at) => {
    const part = asObject(item)
    return marked(convertPart(part, `${path}.content[${at}]`), part)
  })
}

function convertPart(part: JsonObject, path: string): JsonObject[] {
  checkFields(part, PART_FIELDS, `${path}.`)
  if (part['type'] === 'text') return textBlocks(asString(part['text']) ?? '')
  if (part['type'] === 'refusal') return textBlocks(asString(part['refusal']) ?? '')
  if (part['type'] === 'image_url') return [imageBlock(part, path)]
  throw new Untranslatable(`${path}.type ${JSON.stringify(part['type'])} is not supported by this provider`)
}

/** White space alone counts as empty. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

const DATA_URL = /^data:([^;,]+);base64,/i

function imageBlock(part: JsonObject, path: string): JsonObject {
  const url = asString(asObject(part['image_url'])['url'])
  if (url === undefined) throw new Untranslatable(`${path}.image_url.url is missing`)
  const [head, type = ''] = DATA_URL.exec(url) ?? []
  if (head === undefined) return { type: 'image', source: { type: 'url', url } }
  const mediaType = type.toLowerCase()
  return {
    type: 'image',
    source: {
      type: 'base64',
      media_type: mediaType === 'image/jpg' ? 'image/jpeg' : mediaType,
      data: url.slice(head.length),
    },
  }
}

function joinedText(blocks: readonly JsonObject[]): string {
  return blocks.map((block) => asString(block['text']) ?? '').join('')
}

function toolUse(call: JsonObject, path: string): JsonObject {
  if ((call['type'] ?? 'function') !== 'function') {
    throw new Untranslatable(`${path}.type ${JSON.stringify(call['type'])} is not supported by this provider`)
  }
  const fn = asObject(call['function'])
  const text = asString(fn['arguments']) ?? ''
  const input = text.trim() === '' ? {} : parseExactObject(text)
  if (input === undefined) throw new Untranslatable(`${path}.function.arguments is not a JSON object`)
  return { type: 'tool_use', id: asString(call['id']) ?? '', name: asString(fn['name']) ?? '', input }
}
