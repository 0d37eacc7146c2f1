// Turns of a request in the Converse format: system texts become a separate field, neighbours of one role become one
// message, and empty parts are dropped, because the vendor rejects them.
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
import type { JsonObject } from '../../json.ts'
import { Untranslatable } from '../../translate/untranslatable.ts'
import { unsupported } from '../fields.ts'
import type { CachePoints } from './cache.ts'
import { mediaBlock } from './media.ts'
import { validName } from '../valid-name.ts'
import { reasoningBlock } from './reasoning.ts'

export interface EncodedTurns {
  readonly system: readonly JsonObject[]
  readonly messages: readonly Message[]
  /** The history has calls or results, for which the vendor demands tools. */
  readonly hasToolBlocks: boolean
  /** The last message has the result of a tool whose call came without the thoughts that led to it. */
  readonly answersCallWithoutThoughts: boolean
}

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

interface TurnContext {
  readonly points: CachePoints
  readonly notes: TranslationNotes
}

/** @throws {Untranslatable} */
export function encodeTurns({ turns, turnsAt, cache }: ChatRequest, context: TurnContext): EncodedTurns {
  const encoder = new PartEncoder(context.notes)
  const system: JsonObject[] = []
  const messages: Message[] = []
  // The vendor counts cache points of the system texts first.
  for (const { role, parts } of turns) {
    if (role === 'system') system.push(...parts.flatMap((part) => marked(systemText(part), part, context)))
  }
  for (const { role, parts } of turns) {
    if (role === 'system') continue
    const content = parts.flatMap((part) => marked(encoder.encode(part), part, context))
    if (content.length === 0) continue
    const last = messages.at(-1)
    // Results of parallel tool calls must come in one user message.
    if (last !== undefined && last.role === role) last.content.push(...content)
    else messages.push({ role, content })
  }
  if (messages.length === 0) throw new Untranslatable(`${turnsAt} has only system messages`)
  for (const { role, content } of messages) if (role === 'user') resultsFirst(content)
  messages.at(-1)?.content.push(...context.points.after({ cache, at: turnsAt }))
  return {
    system,
    messages,
    hasToolBlocks: messages.some(({ content }) => content.some((block) => isCall(block) || isResult(block))),
    answersCallWithoutThoughts: answersCallWithoutThoughts(messages),
  }
}

/** A cache point needs a block before it. */
function marked(blocks: readonly JsonObject[], part: Part, { points }: TurnContext): readonly JsonObject[] {
  return blocks.length === 0 ? blocks : [...blocks, ...points.after(part)]
}

function systemText(part: Part): readonly JsonObject[] {
  return part.kind === 'text' && part.text.trim() !== '' ? [{ text: part.text }] : []
}

/** The vendor rejects other content in front of the results of calls. A cache point stays behind its block. */
function resultsFirst(content: JsonObject[]): void {
  const results: JsonObject[] = []
  const others: JsonObject[] = []
  let target = others
  for (const block of content) {
    if (!Object.hasOwn(block, 'cachePoint')) target = isResult(block) ? results : others
    target.push(block)
  }
  content.splice(0, content.length, ...results, ...others)
}

function isResult(block: JsonObject): boolean {
  return Object.hasOwn(block, 'toolResult')
}

function isCall(block: JsonObject): boolean {
  return Object.hasOwn(block, 'toolUse')
}

function answersCallWithoutThoughts(messages: readonly Message[]): boolean {
  const [call, result] = [messages.at(-2), messages.at(-1)]
  if (result?.content.some(isResult) !== true) return false
  return call?.content.some((block) => Object.hasOwn(block, 'reasoningContent')) !== true
}

class PartEncoder {
  readonly #notes: TranslationNotes
  #documents = 0

  constructor(notes: TranslationNotes) {
    this.#notes = notes
  }

  /** @throws {Untranslatable} */
  encode(part: Part): readonly JsonObject[] {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        // White space alone counts as empty.
        return part.text.trim() === '' ? [] : [{ text: part.text }]
      case 'image':
      case 'document':
      case 'audio':
        return [this.#media(part)]
      case 'toolCall':
        return [toolUse(part)]
      case 'toolResult':
        return [this.#toolResult(part)]
      case 'reasoning':
        return this.#reasoning(part)
      case 'opaque':
    }
    if (part.format === 'Converse') return [part.value]
    throw unsupported(part.at)
  }

  #media(part: MediaPart): JsonObject {
    if (part.kind === 'document') this.#documents++
    return mediaBlock(part, this.#documents)
  }

  #reasoning({ signature, text, at }: ReasoningPart): readonly JsonObject[] {
    if (signature?.format === 'Converse') return [reasoningBlock(text, signature)]
    this.#notes.dropped(at, 'reasoning without a signature of the provider')
    return []
  }

  #toolResult({ callId, content, isError }: ToolResultPart): JsonObject {
    const blocks = content.flatMap((part) => this.encode(part))
    return { toolResult: { toolUseId: validName(callId), content: blocks, ...(isError && { status: 'error' }) } }
  }
}

function toolUse({ id, name, argumentsText }: ToolCallPart): JsonObject {
  return { toolUse: { toolUseId: validName(id), name, input: toolInput(argumentsText) } }
}
