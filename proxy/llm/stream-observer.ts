// Reads model, usage, first token and errors from the events of a stream. It only observes: it never changes or ends
// the stream.
import { SseParser, SseTooLarge, type SseEvent } from '../http/sse.ts'
import { dataStartIn, EVENT_END, eventStartIn, lastDataLineIn, lineEndIn, NO_DATA, OTHER_DATA } from './event-text.ts'
import type { SentFormat } from './formats/format.ts'
import { asObject, asString, parseObject, type JsonObject } from './json.ts'
import { textOfLatin1 } from '../message/latin1-text.ts'
import type { ReplyContext } from './reply-context.ts'

/**
 * Text of an event that may have usage or an error. Wider than the check of `observeEvent`, which reads the data of the
 * event: an event may split its data over several lines. The usual form of no usage is compared first: that takes half
 * the time.
 */
const NOTABLE = /"usage(?!":null)\w*"(?!\s*:\s*null)|"error"/g

/** First byte of a byte order mark. */
const MARK_START = 0xef
const LINE_END = Buffer.from('\n')

/** Events that are complete in `text`. */
interface CompleteEvents {
  /** In latin1. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** An event over the limit ends the observation, not the stream. */
export class StreamObserver {
  readonly #context: ReplyContext
  readonly #sent: SentFormat
  /** For events that are not complete in one chunk, or have unusual lines; undefined: there was none. */
  #parser: SseParser | undefined = undefined
  #hasBegun = false
  #isOver = false
  /** Data of the last event, or with `#isUnparsed` the whole event as it arrived, in latin1; may be a slice. */
  #last = ''
  #isUnparsed = false

  constructor(context: ReplyContext) {
    this.#context = context
    this.#sent = context.call.conversion.sent
  }

  /** The bytes are not read after the call. */
  push(bytes: Buffer): void {
    if (this.#isOver || bytes.length === 0) return
    // One conversion: calls into native code cost more than all searches in the text of a short chunk.
    const text = bytes.toString('latin1')
    const before = this.#last
    this.#push(text)
    const last = this.#last
    // A slice would keep the text of the whole chunk in memory.
    if (last !== before && last.length < text.length) this.#last = Buffer.from(last).toString()
  }

  /** The whole stream, which is not empty, in latin1: in place of `push` and `end`. */
  readWhole(text: string): void {
    this.#push(text)
    this.end()
  }

  #push(text: string): void {
    const isMarked = !this.#hasBegun && text.charCodeAt(0) === MARK_START
    this.#hasBegun ||= !isMarked
    try {
      if (isMarked || text.includes('\r')) this.#parse(text)
      else this.#pushLines(text)
      this.#hasBegun = true
    } catch (error) {
      if (!(error instanceof SseTooLarge)) throw error
      this.#isOver = true
      this.#parser = undefined
      reportUnobserved(this.#context, error.message)
    }
  }

  /** The client got a truncated stream; the log reports it. */
  end(): void {
    const { lastEvent } = this.#sent
    if (this.#isOver || lastEvent === undefined) return
    const data = this.#isUnparsed ? dataOf(this.#last) : this.#last
    if (!lastEvent.test(data)) {
      this.#context.exchange.errorDetail ??= 'the stream of the provider ended without its final event'
    }
  }

  /** Lines that end with LF alone. */
  #pushLines(text: string): void {
    let at = 0
    while (at < text.length && this.#parser?.isBetweenEvents === false) {
      const next = eventEndIn(text, at)
      this.#parse(text.slice(at, next))
      at = next
    }
    const last = text.lastIndexOf(EVENT_END)
    if (last >= at) {
      const end = last + EVENT_END.length
      this.#readEvents({ text, start: at, end })
      at = end
    }
    if (at < text.length) this.#parse(text.slice(at))
  }

  #readEvents({ text, start, end }: CompleteEvents): void {
    let at = start
    while (at < end && this.#context.facts.timeToFirstTokenMs === undefined) {
      const next = Math.min(end, eventEndIn(text, at))
      this.#read({ text, start: at, end: next })
      at = next
    }
    if (at < end) this.#search({ text, start: at, end })
  }

  /** Events that matter only for usage and errors: most have nothing to read. */
  #search({ text, start, end }: CompleteEvents): void {
    let at = start
    NOTABLE.lastIndex = at
    for (let found = NOTABLE.exec(text); found !== null && found.index < end; found = NOTABLE.exec(text)) {
      const eventEnd = eventEndIn(text, found.index)
      this.#read({ text, start: Math.max(at, eventStartIn(text, found.index)), end: eventEnd })
      at = eventEnd
      NOTABLE.lastIndex = at
    }
    const dataLine = lastDataLineIn(text, at, end)
    if (dataLine === -1) return
    const lastStart = Math.max(at, eventStartIn(text, dataLine))
    this.#last = text.slice(lastStart, end)
    this.#isUnparsed = true
  }

  /** One event. */
  #read({ text, start, end }: CompleteEvents): void {
    const dataStart = dataStartIn(text, start, end)
    if (dataStart === OTHER_DATA) this.#parse(text.slice(start, end))
    else if (dataStart !== NO_DATA) this.#observe(textOfLatin1(text.slice(dataStart, lineEndIn(text, dataStart))))
  }

  #parse(text: string): void {
    const parser = (this.#parser ??= this.#newParser())
    for (const { data } of parser.push(Buffer.from(text, 'latin1'))) this.#observe(data)
  }

  #newParser(): SseParser {
    const parser = new SseParser(this.#context.bodyBytesMax)
    // Only the first line of the stream may begin with a byte order mark.
    if (this.#hasBegun) parser.push(LINE_END)
    return parser
  }

  #observe(data: string): void {
    observeEvent(this.#context, this.#sent, data)
    this.#last = data
    this.#isUnparsed = false
  }
}

/** Behind the end of the event that contains the character at `at`. */
function eventEndIn(text: string, at: number): number {
  const end = text.indexOf(EVENT_END, at)
  return end === -1 ? text.length : end + EVENT_END.length
}

/** `event`: as it arrived, in latin1. */
function dataOf(event: string): string {
  const start = dataStartIn(event, 0, event.length)
  if (start >= 0) return event.slice(start, lineEndIn(event, start))
  const [parsed] = new SseParser(Number.POSITIVE_INFINITY).push(Buffer.from(event, 'latin1'))
  return parsed?.data ?? ''
}

/** The response continues, but tokens of the rest are not counted. */
export function reportUnobserved({ exchange }: Pick<ReplyContext, 'exchange'>, reason: string): void {
  const text = `token usage was not read from the response: ${reason}`
  exchange.errorDetail ??= text
  exchange.trace?.note(text)
}

/** Usage that is not null: some providers have null in every event. A quote within a text has a backslash. */
const COUNTS = /"usage\w*"\s*:\s*\{/

/** Reads the data of one event of a stream in the format `sent`. */
export function observeEvent(
  { facts, exchange }: Pick<ReplyContext, 'facts' | 'exchange'>,
  sent: Pick<SentFormat, 'observe' | 'hasContent'>,
  data: SseEvent['data'],
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
