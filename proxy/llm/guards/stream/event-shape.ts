// Most events of a stream differ from the one before in one text only. Such an event is recognised by the characters
// around that text, and is not parsed.
import { parseJson } from '#api/json.ts'
import type { SseEvent } from '../../../http/sse.ts'
import { parseObject } from '../../json.ts'
import type { Delta, StreamTexts } from './stream-texts.ts'

/** A text that no part of an event has by chance; without quotes it is not JSON. */
const PROBE = 'xProbeOfEventShapex'

export class EventShape {
  /** Its text is that of the first event. */
  readonly delta: Delta
  readonly isClosed: (channel: string) => boolean
  readonly #name: string
  readonly #before: string
  readonly #after: string

  private constructor(
    { event, data }: SseEvent,
    place: { readonly delta: Delta; readonly at: number; readonly length: number },
    isClosed: (channel: string) => boolean,
  ) {
    this.delta = place.delta
    this.isClosed = isClosed
    this.#name = event
    this.#before = data.slice(0, place.at)
    this.#after = data.slice(place.at + place.length)
  }

  /** undefined: the place of the text is not certain. `delta`: the only part of a text in the event. */
  static of(event: SseEvent, delta: Delta, texts: StreamTexts): EventShape | undefined {
    const literal = JSON.stringify(delta.text)
    const at = event.data.indexOf(literal)
    if (at === -1) return undefined
    // Equal characters may stand elsewhere: the text is here if another one in its place is read as the same part.
    const probe = event.data.slice(0, at) + JSON.stringify(PROBE) + event.data.slice(at + literal.length)
    const json = parseObject(probe)
    const [found, ...others] = json === undefined ? [] : texts.deltas(json)
    if (json === undefined || found?.text !== PROBE || others.length > 0 || !isSamePlace(found, delta)) return undefined
    return new EventShape(event, { delta, at, length: literal.length }, texts.closes(json))
  }

  /** The text of an event of this shape; undefined: the event has another shape. */
  textIn({ event, data }: SseEvent): string | undefined {
    const start = this.#before.length
    const end = data.length - this.#after.length
    // At least one character between two quotes, as in an event that has a part of a text.
    if (event !== this.#name || end < start + 3) return undefined
    // Several times as fast as `startsWith` and `endsWith`, which compare character by character.
    if (data.slice(0, start) !== this.#before || data.slice(end) !== this.#after) return undefined
    // One string, or not JSON.
    const text = parseJson(data.slice(start, end))
    return typeof text === 'string' ? text : undefined
  }
}

function isSamePlace(one: Delta, other: Delta): boolean {
  return (
    one.channel === other.channel &&
    one.kind === other.kind &&
    one.path.length === other.path.length &&
    one.path.every((step, index) => step === other.path[index])
  )
}
