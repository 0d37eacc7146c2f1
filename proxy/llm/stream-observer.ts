// Reads model, usage, first token and errors from the events of a stream. It only observes: it never changes or ends
// the stream.
import { SseParser, SseTooLarge, type SseEvent } from '../http/sse.ts'
import type { SentFormat } from './formats/format.ts'
import { asObject, asString, parseObject, type JsonObject } from './json.ts'
import type { ReplyContext } from './reply-context.ts'

const EVENT_END = '\n\n'
/**
 * Text of an event that may have usage or an error. Wider than the check of `observeEvent`, which reads the data of the
 * event: an event may split its data over several lines.
 */
const NOTABLE = /"usage\w*"(?!\s*:\s*null)|"error"/g

/** A string has no characters beyond ASCII. */
type Chunk = Buffer | string

/** The part of `chunk` from `start` to `end`. */
interface CompleteEvents {
  readonly chunk: Chunk
  /** The whole chunk in latin1. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** An event over the limit ends the observation, not the stream. */
export class StreamObserver {
  readonly #context: ReplyContext
  #parser: SseParser | undefined
  #last = ''
  /** The event after `#last` as it arrived, in latin1; not parsed yet. */
  #unparsed: string | undefined = undefined

  constructor(context: ReplyContext) {
    this.#context = context
    this.#parser = new SseParser(context.bodyBytesMax)
  }

  push(chunk: Chunk): void {
    const parser = this.#parser
    if (parser === undefined) return
    // One conversion: calls into native code cost more than all searches in the text of a short chunk.
    const text = typeof chunk === 'string' ? chunk : chunk.toString('latin1')
    try {
      if (text.includes('\r')) this.#parse(parser, bytesOf(chunk, 0))
      else this.#pushLines(parser, chunk, text)
    } catch (error) {
      if (!(error instanceof SseTooLarge)) throw error
      this.#parser = undefined
      reportUnobserved(this.#context, error.message)
    }
  }

  /** The client got a truncated stream; the log reports it. */
  end(): void {
    const { call, exchange } = this.#context
    const { lastEvent } = call.conversion.sent
    if (this.#parser === undefined || lastEvent === undefined) return
    const rest = this.#unparsed
    if (rest !== undefined) this.#parse(new SseParser(Number.POSITIVE_INFINITY), Buffer.from(rest, 'latin1'))
    if (!lastEvent.test(this.#last)) exchange.errorDetail ??= 'the stream of the provider ended without its final event'
  }

  /** Lines that end with LF alone. `text`: the chunk in latin1. */
  #pushLines(parser: SseParser, chunk: Chunk, text: string): void {
    let at = 0
    while (at < text.length && !this.#isSearchable(parser)) {
      const end = text.indexOf(EVENT_END, at)
      const next = end === -1 ? text.length : end + EVENT_END.length
      this.#parse(parser, bytesOf(chunk, at, next))
      at = next
    }
    const last = text.lastIndexOf(EVENT_END)
    if (last >= at) {
      const end = last + EVENT_END.length
      this.#search(parser, { chunk, text, start: at, end })
      at = end
    }
    if (at < text.length) this.#parse(parser, bytesOf(chunk, at))
  }

  /** The next events matter only for usage and errors. */
  #isSearchable(parser: SseParser): boolean {
    return this.#context.facts.timeToFirstTokenMs !== undefined && parser.isBetweenEvents
  }

  /** Most events have nothing to read, and are not parsed. */
  #search(parser: SseParser, { chunk, text, start, end }: CompleteEvents): void {
    let at = start
    NOTABLE.lastIndex = at
    for (let found = NOTABLE.exec(text); found !== null && found.index < end; found = NOTABLE.exec(text)) {
      const eventEnd = text.indexOf(EVENT_END, found.index) + EVENT_END.length
      this.#parse(parser, bytesOf(chunk, Math.max(at, eventStartIn(text, found.index)), eventEnd))
      at = eventEnd
      NOTABLE.lastIndex = at
    }
    const dataStart = text.lastIndexOf('\ndata', end - EVENT_END.length) + 1
    if (dataStart < at || !text.startsWith('data', dataStart)) return
    const lastStart = Math.max(at, eventStartIn(text, dataStart))
    // A copy: a slice would keep the text of the whole chunk in memory.
    this.#unparsed = bytesOf(chunk, lastStart, end).toString('latin1')
  }

  #parse(parser: SseParser, bytes: Buffer): void {
    for (const event of parser.push(bytes)) {
      observeEvent(this.#context, this.#context.call.conversion.sent, event)
      this.#last = event.data
      this.#unparsed = undefined
    }
  }
}

function bytesOf(chunk: Chunk, start: number, end = chunk.length): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk.slice(start, end), 'latin1') : chunk.subarray(start, end)
}

function eventStartIn(text: string, at: number): number {
  const previousEnd = text.lastIndexOf(EVENT_END, at)
  return previousEnd === -1 ? 0 : previousEnd + EVENT_END.length
}

/** The response continues, but tokens of the rest are not counted. */
export function reportUnobserved({ exchange }: Pick<ReplyContext, 'exchange'>, reason: string): void {
  const text = `token usage was not read from the response: ${reason}`
  exchange.errorDetail ??= text
  exchange.trace?.note(text)
}

/** Usage that is not null: some providers have null in every event. A quote within a text has a backslash. */
const COUNTS = /"usage\w*"\s*:\s*\{/

/** Reads one event of a stream in the format `sent`. */
export function observeEvent(
  { facts, exchange }: Pick<ReplyContext, 'facts' | 'exchange'>,
  sent: Pick<SentFormat, 'observe' | 'hasContent'>,
  { data }: SseEvent,
): void {
  const needsFirstToken = facts.timeToFirstTokenMs === undefined
  // Most events of a stream are one token each: they are only parsed while facts are missing.
  if (!needsFirstToken && !COUNTS.test(data) && !data.includes('"error"')) return
  const json = parseObject(data)
  if (json === undefined) return
  sent.observe(facts, json)
  if (needsFirstToken && sent.hasContent(json)) {
    facts.timeToFirstTokenMs = performance.now() - exchange.startMs
  }
  if (json['type'] === 'error' || json['error'] !== undefined) {
    exchange.reason = 'UpstreamFailure'
    exchange.errorDetail = `the provider reported an error in its stream: ${errorType(asObject(json['error']))}`
  }
}

function errorType({ type, status }: JsonObject): string {
  return asString(type) ?? asString(status) ?? 'unknown'
}
