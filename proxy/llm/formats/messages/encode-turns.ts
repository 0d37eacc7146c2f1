// Turns of a request in the messages format: system texts become a separate field, neighbours of one role become one
// message, and empty parts are dropped, because vendors reject them.
import type { TranslationNotes } from '../../canonical/format.ts'
import type {
  ChatRequest,
  MediaPart,
  OpaquePart,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import { toolInput } from '../../canonical/tool-input.ts'
import type { JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { defined, unsupported } from '../fields.ts'
import { encodeCitations } from './citations.ts'
import { thinkingBlock } from './thinking.ts'
import { validName } from '../valid-name.ts'

export interface EncodedTurns {
  /** Blocks only where one of them marks the end of what is cached. */
  readonly system: string | readonly JsonObject[] | undefined
  readonly messages: readonly Message[]
  /** The last message has the result of a tool whose call came without the thoughts that led to it. */
  readonly answersCallWithoutThoughts: boolean
}

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

/** @throws {Untranslatable} */
export function encodeTurns({ turns, turnsAt }: ChatRequest, notes: TranslationNotes): EncodedTurns {
  const system: JsonObject[] = []
  const messages: Message[] = []
  for (const turn of turns) {
    if (turn.role === 'system') {
      system.push(...systemBlocks(turn))
      continue
    }
    const content = turn.parts.flatMap((part) => encodePart(part, notes))
    if (content.length === 0) continue
    const last = messages.at(-1)
    // Results of parallel tool calls must come in one user message.
    if (last !== undefined && last.role === turn.role) last.content.push(...content)
    else messages.push({ role: turn.role, content })
  }
  if (messages.length === 0) throw new Untranslatable(`${turnsAt} has only system messages`)
  return {
    system: systemOf(system),
    messages: messages.map(resultsFirst),
    answersCallWithoutThoughts: answersCallWithoutThoughts(messages),
  }
}

/** The vendor rejects other content in front of the results of calls. */
function resultsFirst(message: Message): Message {
  const { role, content } = message
  const last = content.findLastIndex(isResult)
  // Most messages have no results, or have nothing in front of them.
  if (last === -1 || content.slice(0, last).every(isResult)) return message
  const results = content.filter(isResult)
  return { role, content: [...results, ...content.filter((block) => !isResult(block))] }
}

function isResult(block: JsonObject): boolean {
  return block['type'] === 'tool_result'
}

function answersCallWithoutThoughts(messages: readonly Message[]): boolean {
  const [call, result] = [messages.at(-2), messages.at(-1)]
  if (result?.content.some(isResult) !== true) return false
  return call?.content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking') !== true
}

/** One block a turn, unless parts of it are marked. */
function systemBlocks({ parts }: Turn): readonly JsonObject[] {
  const texts = parts.filter((part) => part.kind === 'text').filter(({ text }) => text.trim() !== '')
  if (texts.length === 0) return []
  if (texts.some(({ cache }) => cache !== undefined)) return texts.map(textBlock)
  return [{ type: 'text', text: texts.map(({ text }) => text).join('') }]
}

function systemOf(blocks: readonly JsonObject[]): EncodedTurns['system'] {
  if (blocks.length === 0) return undefined
  if (blocks.some((block) => Object.hasOwn(block, 'cache_control'))) return blocks
  return blocks.map((block) => block['text']).join('\n')
}

function encodePart(part: Part, notes: TranslationNotes): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      // White space alone counts as empty.
      return part.text.trim() === '' ? [] : [textBlock(part)]
    case 'refusal':
      return part.text.trim() === '' ? [] : [marked({ type: 'text', text: part.text }, part)]
    case 'image':
    case 'document':
    case 'audio':
      return [mediaBlock(part)]
    case 'toolCall':
      return [toolUse(part)]
    case 'toolResult':
      return [toolResult(part, notes)]
    case 'reasoning':
      return reasoningBlock(part, notes)
    case 'opaque':
  }
  return [opaqueBlock(part)]
}

function textBlock(part: TextPart): JsonObject {
  const citations = encodeCitations(part.citations ?? [])
  return marked({ type: 'text', text: part.text, ...(citations.length > 0 && { citations }) }, part)
}

function marked(block: JsonObject, { cache }: Part): JsonObject {
  return cache === undefined ? block : { ...block, cache_control: cache }
}

/** @throws {Untranslatable} */
function mediaBlock(part: MediaPart): JsonObject {
  const { kind, source, at, name } = part
  if (kind === 'audio') throw unsupported(`${at}: audio`)
  if (source.kind === 'file' && source.format !== 'Messages') throw unsupported(`${at}: a file of another provider`)
  return marked(
    defined({ type: kind, source: mediaSource(source), title: kind === 'document' ? name : undefined }),
    part,
  )
}

function mediaSource(source: MediaPart['source']): JsonObject {
  switch (source.kind) {
    case 'base64':
      return source.mediaType === 'text/plain'
        ? { type: 'text', media_type: 'text/plain', data: Buffer.from(source.data, 'base64').toString('utf8') }
        : { type: 'base64', media_type: source.mediaType, data: source.data }
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text }
    case 'url':
      return { type: 'url', url: source.url }
    case 'file':
  }
  return { type: 'file', file_id: source.id }
}

function toolUse(part: ToolCallPart): JsonObject {
  const input = toolInput(part.argumentsText)
  return marked({ type: 'tool_use', id: validId(part.id), name: part.name, input }, part)
}

/** The vendor rejects other characters, which some providers use, and ids that are not unique. Any length is valid. */
function validId(id: string): string {
  return /^[a-zA-Z0-9_-]+$/.test(id) ? id : validName(id)
}

function toolResult(part: ToolResultPart, notes: TranslationNotes): JsonObject {
  const blocks = part.content.flatMap((one) => encodePart(one, notes))
  const isText = blocks.every((block) => block['type'] === 'text' && !Object.hasOwn(block, 'cache_control'))
  const content = isText ? blocks.map((block) => block['text']).join('') : blocks
  const result = { type: 'tool_result', tool_use_id: validId(part.callId), ...(content.length > 0 && { content }) }
  return marked(part.isError ? { ...result, is_error: true } : result, part)
}

/** The vendor rejects reasoning without its own signature. */
function reasoningBlock({ signature, text, at }: ReasoningPart, notes: TranslationNotes): readonly JsonObject[] {
  if (signature?.format === 'Messages') return [thinkingBlock(text, signature)]
  notes.dropped(at, 'reasoning without a signature of the provider')
  return []
}

/** @throws {Untranslatable} */
function opaqueBlock(part: OpaquePart): JsonObject {
  if (part.format === 'Messages') return part.value
  throw unsupported(part.at)
}
