// Reads the events of a trace from text that arrives in pieces: lines of JSON, or server-sent events. A line that is
// too long is an error.
import type { components } from '#api/admin/types.gen.ts'

export type TraceEvent = components['schemas']['TraceEvent']

export interface EventLine {
  readonly event: TraceEvent
  /** The original line of JSON. */
  readonly json: string
}

/** Room for a recorded body of the largest usual buffer (2 MiB) as base64, and more. */
const LINE_CHARACTERS_MAX = 64 * 1024 * 1024

export class EventReader {
  readonly #onEvent: (line: EventLine) => void
  readonly #onReady: () => void
  /** Pieces of the incomplete line: they are joined once. */
  #pieces: string[] = []
  #characters = 0
  #lines = 0

  constructor(onEvent: (line: EventLine) => void, onReady: () => void = () => undefined) {
    this.#onEvent = onEvent
    this.#onReady = onReady
  }

  /** @throws {Error} with the number of a line that is not part of a trace */
  push(text: string): void {
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#keep(text.slice(start, end))
      this.#takeLine()
      start = end + 1
    }
    this.#keep(text.slice(start))
  }

  /** The last line of a file may have no newline. */
  end(): void {
    this.#takeLine()
  }

  #keep(piece: string): void {
    this.#characters += piece.length
    if (this.#characters > LINE_CHARACTERS_MAX) throw new Error(`line ${this.#lines + 1} is too long for an event`)
    if (piece !== '') this.#pieces.push(piece)
  }

  #takeLine(): void {
    const line = this.#pieces.join('').trim()
    this.#pieces = []
    this.#characters = 0
    this.#lines++
    if (line === ': ready') this.#onReady()
    if (line === '' || line.startsWith(':')) return
    const json = line.startsWith('data:') ? line.slice('data:'.length).trim() : line
    this.#onEvent({ event: this.#parse(json), json })
  }

  #parse(json: string): TraceEvent {
    let value: unknown
    try {
      value = JSON.parse(json)
    } catch {
      throw new Error(`line ${this.#lines} is not JSON`)
    }
    if (!isEvent(value)) throw new Error(`line ${this.#lines} is not an event of a trace`)
    return value
  }
}

/** Events of unknown types are shown too. */
function isEvent(value: unknown): value is TraceEvent {
  if (typeof value !== 'object' || value === null || !('message' in value)) return false
  const { message } = value
  return typeof message === 'object' && message !== null && 'type' in message && typeof message.type === 'string'
}
