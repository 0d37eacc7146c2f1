// Incremental parser of text/event-stream (WHATWG HTML, section 9.2). Any chunk boundary gives the same events.

export interface SseEvent {
  /** Empty when the stream names none. */
  readonly event: string
  readonly data: string
  /** Of this event itself; absent: it has none. */
  readonly id?: string
  /** Time until a client connects again, in milliseconds. */
  readonly retryMs?: number
}

export class SseTooLarge extends Error {}

const LF = 10
const CR = 13
const BYTE_ORDER_MARK = '\u{FEFF}'
const NOTHING = Buffer.alloc(0)

export class SseParser {
  readonly #eventBytesMax: number
  /** Its first `#heldBytes` bytes are an unfinished line. It doubles as it grows: long lines are copied few times. */
  #held: Buffer = NOTHING
  #heldBytes = 0
  #isFirstLine = true
  #event = ''
  #id: string | undefined = undefined
  #retryMs: number | undefined = undefined
  #data: string[] = []
  #dataBytes = 0
  #skipLf = false

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax
  }

  /** No event is unfinished, so the next byte begins one. */
  get isBetweenEvents(): boolean {
    const isEmpty = this.#heldBytes === 0 && this.#data.length === 0 && this.#event === ''
    return isEmpty && !this.#isFirstLine && !this.#skipLf
  }

  /** @throws {SseTooLarge} when one event exceeds the limit. */
  push(chunk: Buffer): SseEvent[] {
    const events: SseEvent[] = []
    const start = chunk.includes(CR) || this.#skipLf ? this.#anyLines(chunk, events) : this.#lines(chunk, events)
    if (this.#heldBytes + chunk.length - start + this.#dataBytes > this.#eventBytesMax) {
      throw new SseTooLarge(`an event is larger than ${this.#eventBytesMax} bytes`)
    }
    this.#hold(chunk, start, chunk.length)
    return events
  }

  /** Lines that end with LF alone, as almost all do. Returns the start of the unfinished line. */
  #lines(chunk: Buffer, events: SseEvent[]): number {
    const first = chunk.indexOf(LF)
    if (first === -1) return 0
    this.#line(this.#finishedLine(chunk, 0, first), events)
    const last = chunk.lastIndexOf(LF)
    if (last === first) return first + 1
    // One conversion for all other lines: a call into native code costs more than the search in its result.
    const text = chunk.toString('utf8', first + 1, last + 1)
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#line(text.slice(start, end), events)
      start = end + 1
    }
    return last + 1
  }

  /** Lines that end with LF, CR or both. */
  #anyLines(chunk: Buffer, events: SseEvent[]): number {
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      const isRestOfEnd = byte === LF && this.#skipLf
      this.#skipLf = byte === CR
      if (byte !== LF && byte !== CR) continue
      if (!isRestOfEnd) this.#line(this.#finishedLine(chunk, start, i), events)
      start = i + 1
    }
    return start
  }

  #finishedLine(chunk: Buffer, start: number, end: number): string {
    if (this.#heldBytes === 0) return chunk.toString('utf8', start, end)
    this.#hold(chunk, start, end)
    const line = this.#held.toString('utf8', 0, this.#heldBytes)
    this.#heldBytes = 0
    this.#held = NOTHING
    return line
  }

  /** Copied: the owner of a chunk may reuse it. */
  #hold(chunk: Buffer, start: number, end: number): void {
    const bytes = this.#heldBytes + end - start
    if (bytes > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, this.#held.length * 2))
      this.#held.copy(larger, 0, 0, this.#heldBytes)
      this.#held = larger
    }
    chunk.copy(this.#held, this.#heldBytes, start, end)
    this.#heldBytes = bytes
  }

  #line(text: string, events: SseEvent[]): void {
    const line = this.#isFirstLine && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
    this.#isFirstLine = false
    if (line === '') {
      if (this.#data.length > 0) events.push(this.#finished())
      this.#event = ''
      this.#id = undefined
      this.#retryMs = undefined
      this.#data = []
      this.#dataBytes = 0
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const raw = colon < 0 ? '' : line.slice(colon + 1)
    const value = raw.startsWith(' ') ? raw.slice(1) : raw
    if (field === 'data') {
      this.#data.push(value)
      // Lines without a value take room as well.
      this.#dataBytes += value.length + 1
    } else if (field === 'event') this.#event = value
    else this.#mark(field, value)
  }

  /** What a client needs to connect again. */
  #mark(field: string, value: string): void {
    if (field === 'id' && !value.includes('\0')) this.#id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value)
  }

  #finished(): SseEvent {
    const event = { event: this.#event, data: this.#data.join('\n') }
    if (this.#id === undefined && this.#retryMs === undefined) return event
    return {
      ...event,
      ...(this.#id !== undefined && { id: this.#id }),
      ...(this.#retryMs !== undefined && { retryMs: this.#retryMs }),
    }
  }
}

/**
 * The data of a whole stream with one event, without building events: one line, without an id or a time to connect
 * again. undefined: the stream has another form, or does not end with a complete event; `SseParser` reads every form.
 */
export function onlyEventData(text: string): string | undefined {
  const lines = text.split('\n')
  if (lines.pop() !== '') return undefined
  let data: string | undefined
  let isFinished = false
  for (const ended of lines) {
    const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended
    // A CR alone ends a line as well.
    if (line.includes('\r')) return undefined
    if (line === '') isFinished ||= data !== undefined
    else if (line.startsWith('data:')) {
      if (data !== undefined) return undefined
      data = line.slice(line.startsWith(' ', DATA_START) ? DATA_START + 1 : DATA_START)
    } else if (!IGNORED_LINE.test(line)) return undefined
  }
  return isFinished ? data : undefined
}

const DATA_START = 'data:'.length
const IGNORED_LINE = /^(?:event)?:/

export function sseData(json: unknown): string {
  return `data: ${JSON.stringify(json)}\n\n`
}

export function sseText(events: readonly SseEvent[]): string {
  let text = ''
  for (const event of events) text += sseEventText(event)
  return text
}

interface WrittenEvent extends Pick<SseEvent, 'event' | 'data'> {
  readonly id?: string | undefined
  readonly retryMs?: number | undefined
}

/** `data` may have several lines. */
export function sseEventText({ event, data, id, retryMs }: WrittenEvent): string {
  let fields = event === '' ? '' : `event: ${event}\n`
  if (id !== undefined) fields += `id: ${id}\n`
  if (retryMs !== undefined) fields += `retry: ${retryMs}\n`
  const hasLines = data.includes('\n') || data.includes('\r')
  return `${fields}data: ${hasLines ? data.replaceAll(/\r\n|\r|\n/g, '\ndata: ') : data}\n\n`
}
