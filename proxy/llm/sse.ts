// Incremental parser of text/event-stream (WHATWG HTML, section 9.2). Any chunk boundary gives the same events.

export interface SseEvent {
  /** Empty when the stream names none. */
  readonly event: string
  readonly data: string
}

export class SseTooLarge extends Error {}

const LF = 10
const CR = 13

export class SseParser {
  readonly #eventBytesMax: number
  /** Bytes of an unfinished line. */
  #rest: Buffer = Buffer.alloc(0)
  #event = ''
  #data: string[] = []
  #dataBytes = 0
  #skipLf = false

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax
  }

  /** @throws {SseTooLarge} when one event exceeds the limit. */
  push(chunk: Buffer): SseEvent[] {
    const events: SseEvent[] = []
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let start = 0
    for (let i = this.#rest.length; i < bytes.length; i++) {
      const byte = bytes[i]
      if (byte !== LF && byte !== CR) {
        this.#skipLf = false
        continue
      }
      if (byte === LF && this.#skipLf) {
        this.#skipLf = false
        start = i + 1
        continue
      }
      this.#skipLf = byte === CR
      this.#line(bytes.toString('utf8', start, i), events)
      start = i + 1
    }
    this.#rest = bytes.subarray(start)
    if (this.#rest.length + this.#dataBytes > this.#eventBytesMax) throw new SseTooLarge()
    return events
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') })
      this.#event = ''
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
      this.#dataBytes += value.length
    } else if (field === 'event') this.#event = value
  }
}

export function sseData(json: unknown): string {
  return `data: ${JSON.stringify(json)}\n\n`
}
