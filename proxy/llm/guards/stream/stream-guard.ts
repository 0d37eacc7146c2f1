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
import { EventShape } from './event-shape.ts'
import { type Delta, STREAM_TEXTS, type StreamTexts } from './stream-texts.ts'

/** The last event of chat completions; all others are JSON objects. */
const LAST = '[DONE]'
/** New characters that start a check. */
const CHECK_CHARS = 1024
/** Texts of one answer that are open at the same time or held. */
const CHANNELS_MAX = 1024
/** Attempts to find the shape of the events of a stream: some have a value that differs in each event. */
const SHAPES_MAX = 16

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
  /** Its members, which may have whole texts; `PartsOnly`: they have none. */
  readonly content: JsonObject | 'PartsOnly' | 'Last'
  /** The text of its sound; undefined: it has no sound. */
  readonly spoken: Channel | undefined
}

export type Blocked = Exclude<ChainResult, { kind: 'passed' }>

export function isBlocked(result: readonly SseEvent[] | SseEvent | Blocked): result is Blocked {
  return 'kind' in result
}

export class StreamGuard {
  readonly #settings: StreamGuardSettings
  readonly #formats: Formats
  readonly #channels = new Map<string, Channel>()
  /** Whole texts and their masked forms, for events that repeat them. */
  readonly #masked = new Map<string, string>()
  #held: Frame[] = []
  #heldBytes = 0
  #shape: EventShape | undefined = undefined
  #shapesLeft = SHAPES_MAX
  /** Of texts that are kept until the end, because later events repeat them. */
  #keptChars = 0
  #isSoundDropped = false

  private constructor(settings: StreamGuardSettings, formats: Formats) {
    this.#settings = settings
    this.#formats = formats
  }

  /** undefined: streams of the format have no texts. */
  static of(format: FormatName, settings: StreamGuardSettings): StreamGuard | undefined {
    const [texts, stream] = [FORMAT_TEXTS[format], STREAM_TEXTS[format]]
    return texts === undefined || stream === undefined ? undefined : new StreamGuard(settings, { texts, stream })
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Sound whose text was masked, or that has no text, was left out. */
  get isSoundDropped(): boolean {
    return this.#isSoundDropped
  }

  /** @returns the events that may be sent, or why the stream ends. */
  async push(events: readonly SseEvent[]): Promise<readonly SseEvent[] | Blocked> {
    for (const event of events) {
      const fault = this.#hold(event)
      if (fault !== undefined) return fault
    }
    if (this.#isCheckDue()) {
      const blocked = await this.#check()
      if (blocked !== undefined) return blocked
    }
    const sent = await this.#released()
    const { heldBytesMax } = this.#settings
    if (this.#heldBytes >= heldBytesMax) {
      return { kind: 'failed', detail: `the held events of a stream are larger than ${heldBytesMax} bytes` }
    }
    if (this.#keptChars > heldBytesMax) {
      return { kind: 'failed', detail: `the texts of a stream are larger than ${heldBytesMax} characters` }
    }
    return sent
  }

  /** All other events; the stream is over. */
  async end(): Promise<readonly SseEvent[] | Blocked> {
    for (const channel of this.#channels.values()) channel.close()
    return (await this.#check()) ?? this.#released()
  }

  /** Enough new text, no room for more, or all texts are complete. */
  #isCheckDue(): boolean {
    let newChars = 0
    let waitingChars = 0
    let isComplete = true
    let isWaiting = false
    for (const channel of this.#channels.values()) {
      newChars += channel.newChars
      waitingChars += channel.waitingChars
      isComplete &&= channel.isClosed
      isWaiting ||= !channel.isCleared
    }
    const isFull = this.#heldBytes >= this.#settings.heldBytesMax
    // A text that is one long mask is cleared at its end: it is read again when it has doubled.
    const isEnough = newChars >= CHECK_CHARS && newChars * 2 >= waitingChars
    return isWaiting && (isEnough || isFull || isComplete)
  }

  #hold(event: SseEvent): Blocked | undefined {
    this.#heldBytes += event.data.length
    const shape = this.#shape
    const text = shape?.textIn(event)
    if (shape !== undefined && text !== undefined) {
      this.#held.push({
        event,
        parts: [this.#partOf({ ...shape.delta, text })],
        content: 'PartsOnly',
        spoken: undefined,
      })
      this.#close(shape.isClosed)
      return undefined
    }
    // Not parsed: an error of the parser costs more than all other steps of a short stream.
    if (event.data.trim() === LAST) {
      this.#held.push({ event, parts: [], content: 'Last', spoken: undefined })
      return undefined
    }
    const json = parseObject(event.data)
    if (json !== undefined) return this.#holdJson(event, json)
    return { kind: 'failed', detail: 'an event of the stream is not a JSON object' }
  }

  #holdJson(event: SseEvent, json: JsonObject): Blocked | undefined {
    const { stream } = this.#formats
    const deltas = stream.deltas(json)
    const transcript = stream.transcriptOf?.(json)
    const spoken = transcript === undefined ? undefined : this.#channelOf({ channel: transcript, kind: 'text' })
    this.#held.push({ event, parts: deltas.map((delta) => this.#partOf(delta)), content: json, spoken })
    this.#close(stream.closes(json))
    this.#shape = this.#shapeOf(event, json, deltas) ?? this.#shape
    if (this.#channels.size <= CHANNELS_MAX) return undefined
    return { kind: 'failed', detail: `a stream has more than ${CHANNELS_MAX} texts` }
  }

  /** Of an event whose only text is one part. */
  #shapeOf(event: SseEvent, json: JsonObject, [delta, ...others]: readonly Delta[]): EventShape | undefined {
    if (delta === undefined || others.length > 0 || this.#shapesLeft === 0) return undefined
    this.#shapesLeft--
    if (this.#otherTexts(json, [delta.path]).spans.length > 0) return undefined
    return EventShape.of(event, delta, this.#formats.stream)
  }

  #otherTexts(json: JsonObject, own: readonly (readonly Step[])[]): Conversation {
    const { texts, stream } = this.#formats
    return Conversation.ofEvent(json, texts).without(new Set(own.map((path) => path.join('.'))), stream.isOfClient)
  }

  #partOf(delta: Delta): Part {
    const channel = this.#channelOf(delta)
    if (this.#formats.stream.isRepeated) this.#keptChars += delta.text.length
    return { channel, start: channel.add(delta.text), delta }
  }

  #close(isClosed: (channel: string) => boolean): void {
    for (const [name, channel] of this.#channels) if (isClosed(name)) channel.close()
  }

  #channelOf({ channel: name, kind }: Pick<Delta, 'channel' | 'kind'>): Channel {
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

  async #released(): Promise<readonly SseEvent[] | Blocked> {
    const out: SseEvent[] = []
    let count = 0
    for (const frame of this.#held) {
      if (!isCleared(frame)) break
      if (frame.spoken === undefined || isUnchanged(frame.spoken)) {
        const made = this.#sentFor(frame)
        // Most texts are there: a turn for each of them would cost more than the rest.
        const event = made instanceof Promise ? await made : made
        if (isBlocked(event)) return event
        out.push(event)
      } else this.#isSoundDropped = true
      this.#heldBytes -= frame.event.data.length
      count++
    }
    // Arguments may hold many events: a copy for each new one would cost more than the rest.
    if (count > 0) this.#held = this.#held.slice(count)
    return out
  }

  /** A promise if guards read more texts. */
  #sentFor({ event, parts, content }: Frame): SseEvent | Blocked | Promise<SseEvent | Blocked> {
    const changes: [readonly Step[], unknown][] = []
    for (const { channel, start, delta } of parts) {
      const text = channel.taken(start, start + delta.text.length, delta.text)
      if (text !== delta.text) changes.push([delta.path, text])
    }
    if (content === 'Last' || (content === 'PartsOnly' && changes.length === 0)) return event
    const json = content === 'PartsOnly' ? asObject(parseObject(event.data)) : content
    const others = this.#otherTexts(
      json,
      parts.map(({ delta }) => delta.path),
    )
    const isKnown = others.spans.every(({ text }) => this.#masked.has(text))
    if (!isKnown) return this.#checkedEvent(event, others, changes)
    return changedEvent(event, { texts: others.spans.map((span) => this.#maskOf(span)), others, changes })
  }

  async #checkedEvent(
    event: SseEvent,
    others: Conversation,
    changes: EventChanges['changes'],
  ): Promise<SseEvent | Blocked> {
    const unknown = others.spans.filter(({ text }) => !this.#masked.has(text))
    const result = await this.#run(unknown)
    if (result.kind !== 'passed') return result
    let at = 0
    const texts = others.spans.map((span) =>
      this.#masked.has(span.text) ? this.#maskOf(span) : (result.texts[at++] ?? span.text),
    )
    return changedEvent(event, { texts, others, changes })
  }

  #maskOf({ text }: TextSpan): string {
    return this.#masked.get(text) ?? text
  }
}

interface EventChanges {
  readonly others: Conversation
  /** One for each span of `others`. */
  readonly texts: readonly string[]
  readonly changes: readonly (readonly [readonly Step[], unknown])[]
}

/** The event with other texts; unchanged, byte for byte, if they are the same. */
function changedEvent(event: SseEvent, { others, texts, changes }: EventChanges): SseEvent {
  const isSame = changes.length === 0 && others.spans.every(({ text }, index) => texts[index] === text)
  const read = isSame ? undefined : readJsonText(event.data)
  if (read === undefined) return event
  const members = others.write(texts, withValues(read.members, changes), changes.length > 0)
  return { ...event, data: editedText({ ...read, members }) }
}

/** Sound waits for the end of its text: nothing shows which part of it has a match. */
function isCleared({ parts, spoken }: Frame): boolean {
  if (spoken !== undefined && !(spoken.isClosed && spoken.isCleared)) return false
  return parts.every(({ channel, start, delta }) => start + delta.text.length <= channel.clearedTo)
}

/** Sound without a text is not checked. */
function isUnchanged({ whole }: Channel): boolean {
  return whole !== undefined && whole.raw !== '' && whole.raw === whole.masked
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
