// The guards of responses on a stream of the client's format (data-plane supplement section 3.8). Events are held until
// their texts are cleared: guards read the new text behind the last characters that were sent, and the end of it stays
// held back, so that a match is found wherever it is cut into events. Masked texts are written into the events.
import type { FormatName } from '#api/llm/formats.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { SseEvent } from '../../../http/sse.ts'
import type { HeaderList } from '../../../message/headers.ts'
import { asObject, asString, parseObject, type JsonObject } from '../../json.ts'
import { editedText, readJsonText } from '../../json-text.ts'
import { type ChainedGuard, type ChainResult, runGuards } from '../chain.ts'
import { Conversation, type Step, withValues } from '../conversation.ts'
import type { TextSpan } from '../guard.ts'
import { FORMAT_TEXTS, type FormatTexts, type TextField } from '../text-fields.ts'
import { Channel } from './channel.ts'
import { type Delta, STREAM_TEXTS, type StreamTexts } from './stream-texts.ts'

/** The last event of chat completions; all others are JSON objects. */
const LAST = '[DONE]'
/** New characters that start a check. */
const CHECK_CHARS = 1024
/** Texts of one answer that are open at the same time or held. */
const CHANNELS_MAX = 1024

export interface StreamGuardSettings {
  readonly guards: readonly ChainedGuard[]
  readonly exchange: Exchange
  readonly upstreamHeaders: HeaderList
  /** Of events that are held. */
  readonly heldBytesMax: number
}

interface Formats {
  readonly texts: FormatTexts
  readonly stream: StreamTexts
}

/** A part of a text in an event. */
interface Part {
  readonly channel: Channel
  readonly start: number
  readonly delta: Delta
}

interface Frame {
  readonly event: SseEvent
  readonly parts: readonly Part[]
  /** Whether it may have whole texts. */
  readonly json: JsonObject | undefined
}

export type Blocked = Exclude<ChainResult, { kind: 'passed' }>

export class StreamGuard {
  readonly #settings: StreamGuardSettings
  readonly #formats: Formats
  readonly #channels = new Map<string, Channel>()
  /** Whole texts and their masked forms, for events that repeat them. */
  readonly #masked = new Map<string, string>()
  #held: Frame[] = []
  #heldBytes = 0

  private constructor(settings: StreamGuardSettings, formats: Formats) {
    this.#settings = settings
    this.#formats = formats
  }

  /** undefined: streams of the format have no texts. */
  static of(format: FormatName, settings: StreamGuardSettings): StreamGuard | undefined {
    const [texts, stream] = [FORMAT_TEXTS[format], STREAM_TEXTS[format]]
    return texts === undefined || stream === undefined ? undefined : new StreamGuard(settings, { texts, stream })
  }

  /** @returns the events that may be sent, or why the stream ends. */
  async push(events: readonly SseEvent[]): Promise<string | Blocked> {
    for (const event of events) {
      const fault = this.#hold(event)
      if (fault !== undefined) return fault
    }
    if (this.#isCheckDue()) {
      const blocked = await this.#check()
      if (blocked !== undefined) return blocked
    }
    const sent = await this.#released()
    if (this.#heldBytes >= this.#settings.heldBytesMax) {
      return {
        kind: 'failed',
        detail: `the held events of a stream are larger than ${this.#settings.heldBytesMax} bytes`,
      }
    }
    return sent
  }

  /** All other events; the stream is over. */
  async end(): Promise<string | Blocked> {
    for (const channel of this.#channels.values()) channel.close()
    return (await this.#check()) ?? this.#released()
  }

  /** Enough new text, no room for more, or all texts are complete. */
  #isCheckDue(): boolean {
    let newChars = 0
    let isComplete = true
    let isWaiting = false
    for (const channel of this.#channels.values()) {
      newChars += channel.newChars
      isComplete &&= channel.isClosed
      isWaiting ||= !channel.isCleared
    }
    const isFull = this.#heldBytes >= this.#settings.heldBytesMax
    return isWaiting && (newChars >= CHECK_CHARS || isFull || isComplete)
  }

  #hold(event: SseEvent): Blocked | undefined {
    const json = parseObject(event.data)
    this.#heldBytes += event.data.length
    if (json === undefined) {
      if (event.data.trim() !== LAST) return { kind: 'failed', detail: 'an event of the stream is not a JSON object' }
      this.#held.push({ event, parts: [], json })
      return undefined
    }
    const { stream } = this.#formats
    const parts = stream.deltas(json).map((delta): Part => {
      const channel = this.#channelOf(delta)
      return { channel, start: channel.add(delta.text), delta }
    })
    const isClosed = stream.closes(json)
    for (const [name, channel] of this.#channels) if (isClosed(name)) channel.close()
    this.#held.push({ event, parts, json })
    if (this.#channels.size <= CHANNELS_MAX) return undefined
    return { kind: 'failed', detail: `a stream has more than ${CHANNELS_MAX} texts` }
  }

  #channelOf({ channel: name, kind }: Delta): Channel {
    const known = this.#channels.get(name)
    if (known !== undefined) return known
    const channel = new Channel(kind, this.#formats.stream.isRepeated)
    this.#channels.set(name, channel)
    return channel
  }

  async #check(): Promise<Blocked | undefined> {
    const pending = [...this.#channels.values()].flatMap((channel) => {
      const text = channel.pending
      return text === undefined ? [] : [{ channel, body: bodyOf(channel, text) }]
    })
    const conversations = pending.map(({ body }) => Conversation.ofAnswer(body, PENDING))
    const result = await this.#run(conversations.flatMap(({ spans }) => spans))
    if (result.kind !== 'passed') return result
    let at = 0
    for (const [index, { channel, body }] of pending.entries()) {
      const conversation = conversations[index]
      if (conversation === undefined) continue
      const texts = result.texts.slice(at, at + conversation.spans.length)
      at += texts.length
      const written = asObject(conversation.write(texts, body)['pending'])
      channel.checked(asString(written[channel.kind]) ?? '')
      if (channel.whole !== undefined && channel.isCleared) this.#masked.set(channel.whole.raw, channel.whole.masked)
    }
    return undefined
  }

  #run(spans: readonly TextSpan[]): Promise<ChainResult> {
    const { guards, exchange, upstreamHeaders } = this.#settings
    return runGuards(guards, { phase: 'Response', spans, exchange, upstreamHeaders })
  }

  async #released(): Promise<string | Blocked> {
    let out = ''
    let count = 0
    for (const frame of this.#held) {
      if (!frame.parts.every(({ channel, start, delta }) => start + delta.text.length <= channel.clearedTo)) break
      const text = await this.#textOf(frame)
      if (typeof text !== 'string') return text
      out += text
      this.#heldBytes -= frame.event.data.length
      count++
    }
    this.#held = this.#held.slice(count)
    return out
  }

  async #textOf({ event, parts, json }: Frame): Promise<string | Blocked> {
    if (json === undefined) return eventText(event.event, event.data)
    const changes: [readonly Step[], unknown][] = []
    for (const { channel, start, delta } of parts) {
      const text = channel.taken(start, start + delta.text.length, delta.text)
      if (text !== delta.text) changes.push([delta.path, text])
    }
    const own = new Set(parts.map(({ delta }) => delta.path.join('.')))
    const conversation = Conversation.ofEvent(json, this.#formats.texts).without(own)
    const texts = conversation.spans.map(({ text }) => this.#masked.get(text) ?? text)
    const unknown = conversation.spans.filter(({ text }) => !this.#masked.has(text))
    if (unknown.length > 0) {
      const result = await this.#run(unknown)
      if (result.kind !== 'passed') return result
      let at = 0
      for (const [index, { text }] of conversation.spans.entries()) {
        if (!this.#masked.has(text)) texts[index] = result.texts[at++] ?? text
      }
    }
    const isSame = changes.length === 0 && conversation.write(texts, json) === json
    const read = isSame ? undefined : readJsonText(event.data)
    if (read === undefined) return eventText(event.event, event.data)
    const members = conversation.write(texts, withValues(read.members, changes), changes.length > 0)
    return eventText(event.event, editedText({ ...read, members }))
  }
}

/** A pending text as a body, so that arguments of tools are read and written value by value. */
const PENDING: FormatTexts = {
  request: {},
  answer: ['pending'],
  fields: new Map<string, TextField>([
    ['text', 'text'],
    ['values', 'values'],
  ]),
}

function bodyOf({ kind }: Channel, text: string): JsonObject {
  return { pending: { [kind]: text } }
}

function eventText(name: string, data: string): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`)
  return `${name === '' ? '' : `event: ${name}\n`}${lines.join('')}\n`
}
