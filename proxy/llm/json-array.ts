// Streams for clients that read one JSON array in place of events: each event is an element.
import type { Cancellable } from '../message/body.ts'
import { madeStream } from '../message/made-stream.ts'
import { SseParser } from '../http/sse.ts'
import { parseObject } from './json.ts'
import type { ReplyContext } from './reply-context.ts'
import { brokenStream } from './stream.ts'

/** `body`: events for the client, of which the last one reports an error if there is one. */
export function jsonArrayStream(context: ReplyContext, body: Cancellable<Buffer>): Cancellable<Buffer> {
  return madeStream(framed(context, body), () => body.cancel())
}

/** `events`: a complete stream. */
export function arrayOfEvents(context: ReplyContext, events: string): string {
  const elements = new Elements(context)
  return elements.push(Buffer.from(events)) + elements.end()
}

async function* framed(context: ReplyContext, body: Cancellable<Buffer>): AsyncGenerator<Buffer> {
  const elements = new Elements(context)
  for await (const chunk of body) {
    const text = elements.push(chunk)
    if (text !== '') yield Buffer.from(text)
  }
  yield Buffer.from(elements.end())
}

class Elements {
  readonly #context: ReplyContext
  readonly #parser: SseParser
  #isEmpty = true
  #isFailed = false

  constructor(context: ReplyContext) {
    this.#context = context
    this.#parser = new SseParser(context.translationBytesMax)
  }

  /** Nothing follows an event that is broken or too large, but its error. */
  push(chunk: Buffer): string {
    if (this.#isFailed) return ''
    let out = ''
    try {
      for (const { data } of this.#parser.push(chunk)) {
        if (parseObject(data) === undefined) throw new InvalidEvent('an event of the stream is not a JSON object')
        out += this.#element(data)
      }
    } catch (error) {
      this.#isFailed = true
      const report = new SseParser(Number.POSITIVE_INFINITY).push(Buffer.from(brokenStream(this.#context, error)))
      for (const { data } of report) out += this.#element(data)
    }
    return out
  }

  end(): string {
    return this.#isEmpty ? '[]' : ']'
  }

  #element(data: string): string {
    const separator = this.#isEmpty ? '[' : ',\r\n'
    this.#isEmpty = false
    return separator + data
  }
}

class InvalidEvent extends Error {}
