// The texts of a request and of its answer for expressions (CEL `llm.prompt`, `llm.completion`, `llm.toolCalls`): from
// the format of the client, with the masks of guards. Kept only if an expression of the request reads them.
import type { SentFormatName } from '#api/llm/formats.ts'
import { messageOf } from '../exchange/diagnosis.ts'
import { reportIfBug } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmAnswer, LlmFacts, LlmMessage, LlmToolCall } from '../exchange/facts.ts'
import type { TextReads } from '../exchange/slots.ts'
import { SseParser } from '../http/sse.ts'
import type { Cancellable } from '../message/body.ts'
import type { BodyObserver } from '../message/incoming-body.ts'
import { recordedStream } from '../log/recorded-body.ts'
import type { AnswerEvent } from './canonical/answer.ts'
import { AnswerFold, AnswerTooLarge } from './canonical/fold.ts'
import type { ProviderChat, StreamDecoder } from './canonical/format.ts'
import { chatFormat } from './formats/chat-table.ts'
import type { Format } from './formats/format.ts'
import { Conversation } from './guards/conversation.ts'
import { FORMAT_TEXTS, type FormatTexts } from './guards/text-fields.ts'
import type { JsonObject } from './json.ts'

/** Of one answer: each is an object in memory, however short its text is. */
const PARTS_MAX = 10_000

function isRead(side: keyof TextReads, { flow }: Exchange, ofRoute: TextReads): boolean {
  return ofRoute[side] || flow?.textReads?.[side] === true
}

/** One message for each role and message of the request; arguments of tool calls are left out. */
export function recordPrompt(exchange: Exchange, ofRoute: TextReads, body: JsonObject, format: SentFormatName): void {
  if (exchange.llm === undefined || !isRead('request', exchange, ofRoute)) return
  const messages = messagesIn(body, format)
  if (messages !== undefined) exchange.llm.prompt = messages
}

/** Without arguments of tool calls. */
const PROMPT_TEXTS: ReadonlyMap<string, FormatTexts> = new Map(
  Object.entries(FORMAT_TEXTS).flatMap(([name, texts]) => {
    if (texts === undefined) return []
    const fields = new Map([...texts.fields].filter(([, field]) => field !== 'values'))
    return [[name, { ...texts, fields }]]
  }),
)

/** `messages[2]` of `messages[2].content[0].text`. */
const MESSAGE = /^[^.[]*(?:\[\d+\])?/

/** One for each role and message, in their order. undefined: the format has no conversation. */
export function messagesIn(body: JsonObject, format: SentFormatName): readonly LlmMessage[] | undefined {
  const texts = PROMPT_TEXTS.get(format)
  if (texts === undefined) return undefined
  const messages: { readonly at: string | undefined; readonly role: string; readonly lines: string[] }[] = []
  for (const { role, text, at: place } of Conversation.ofRequest(body, texts).spans) {
    const at = MESSAGE.exec(place)?.[0]
    const last = messages.at(-1)
    if (last !== undefined && last.at === at && last.role === role) last.lines.push(text)
    else messages.push({ at, role, lines: [text] })
  }
  return messages.map(({ role, lines }) => ({ role, content: lines.join('\n') }))
}

/** undefined: no expression reads them, or the format has no conversation. */
export function answerTexts(
  exchange: Exchange,
  ofRoute: TextReads,
  options: AnswerTextsOptions,
): AnswerTexts | undefined {
  const chat = chatFormat(options.client.name)
  if (chat === undefined || !isRead('response', exchange, ofRoute)) return undefined
  return new AnswerTexts(exchange, chat, options)
}

interface AnswerTextsOptions {
  readonly client: Format
  readonly facts: LlmFacts
  /** Of all texts together, in characters, and of an event, in bytes. */
  readonly sizeMax: number
}

export class AnswerTexts implements LlmAnswer {
  readonly #exchange: Exchange
  readonly #chat: ProviderChat
  readonly #facts: LlmFacts
  readonly #sizeMax: number
  readonly #fold = new AnswerFold()
  #charsLeft: number
  #isFull = false

  constructor(exchange: Exchange, chat: ProviderChat, { facts, sizeMax }: AnswerTextsOptions) {
    this.#exchange = exchange
    this.#chat = chat
    this.#facts = facts
    this.#sizeMax = sizeMax
    this.#charsLeft = sizeMax
  }

  get completion(): readonly string[] {
    return this.#fold.parts.flatMap((part) => (part.kind === 'text' || part.kind === 'refusal' ? [part.text] : []))
  }

  get toolCalls(): readonly LlmToolCall[] {
    return this.#fold.parts.flatMap((part) =>
      part.kind === 'toolCall' ? [{ id: part.id, name: part.name, arguments: part.text }] : [],
    )
  }

  /** A whole answer. */
  answer(json: JsonObject): void {
    this.#bounded(() => this.#chat.decodeAnswer(json) ?? [])
  }

  /** A whole answer as a stream. */
  events(text: string): void {
    new StreamTexts(this, this.#sizeMax).push(Buffer.from(text))
  }

  /** The same stream; its texts are read while it is forwarded. */
  stream(body: Cancellable<Buffer>): Cancellable<Buffer> {
    return recordedStream(body, new StreamTexts(this, this.#sizeMax))
  }

  decoder(): StreamDecoder {
    return this.#chat.decodeStream()
  }

  /** False: the limit is reached, and the rest is not read. */
  read(events: () => readonly AnswerEvent[]): boolean {
    if (!this.#isFull) this.#bounded(events)
    return !this.#isFull
  }

  /** The texts before the limit, or before what cannot be read, stay. */
  #bounded(events: () => readonly AnswerEvent[]): void {
    this.#facts.answer = this
    try {
      for (const event of events()) this.#add(event)
    } catch (error) {
      // The answer itself continues.
      reportIfBug('llm texts', error)
      this.#isFull = true
      const reason = messageOf(error)
      this.#exchange.trace?.note(`expressions see only the beginning of the answer: ${reason}`)
    }
  }

  #add(event: AnswerEvent): void {
    if (event.kind === 'text' || event.kind === 'arguments') this.#addText(event)
    if (event.kind !== 'open') return
    if (this.#fold.parts.length === PARTS_MAX) throw new AnswerTooLarge(`it has more than ${PARTS_MAX} parts`)
    const { part } = event
    if (part.kind === 'opaque') this.#fold.push({ ...event, part: { ...part, value: {} } })
    else this.#fold.push(part.kind === 'image' ? { ...event, part: { ...part, data: '' } } : event)
  }

  #addText(event: AnswerEvent & { readonly kind: 'text' | 'arguments' }): void {
    const text = event.text.slice(0, this.#charsLeft)
    this.#charsLeft -= text.length
    this.#fold.push({ ...event, text })
    if (text !== event.text) throw new AnswerTooLarge(`it is larger than ${this.#sizeMax} characters`)
  }
}

/** Reads the events of a stream in the format of the client. */
class StreamTexts implements BodyObserver {
  readonly #texts: AnswerTexts
  readonly #decoder: StreamDecoder
  #parser: SseParser | undefined

  constructor(texts: AnswerTexts, eventBytesMax: number) {
    this.#texts = texts
    this.#decoder = texts.decoder()
    this.#parser = new SseParser(eventBytesMax)
  }

  seen(buffer: Buffer, start: number, end: number): void {
    this.push(buffer.subarray(start, end))
  }

  push(bytes: Buffer): void {
    const parser = this.#parser
    if (parser === undefined) return
    const isOpen = this.#texts.read(() => parser.push(bytes).flatMap((event) => this.#decoder.event(event)))
    if (!isOpen) this.#parser = undefined
  }

  over(): void {
    this.#parser = undefined
  }
}
