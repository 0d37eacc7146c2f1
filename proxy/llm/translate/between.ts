// A translation between any two formats, through the canonical form.
import type { SentFormatName } from '#api/llm/formats.ts'
import type { SseEvent } from '../../http/sse.ts'
import { streamError } from '../canonical/answer-writer.ts'
import type { AnswerEvent } from '../canonical/answer.ts'
import { AnswerTooLarge } from '../canonical/fold.ts'
import type { ClientChat, ProviderChat, StreamDecoder, StreamEncoder } from '../canonical/format.ts'
import type { JsonObject } from '../json.ts'
import type { StreamOptions, StreamTranslator, Translation } from './translation.ts'

export interface Sides {
  /** Format of the client. */
  readonly client: ClientChat
  /** Format of the provider. */
  readonly provider: ProviderChat
  readonly to: SentFormatName
}

export function translationBetween({ client, provider, to }: Sides): Translation {
  return {
    to,
    request: (request, notes) => provider.encodeRequest(client.decodeRequest(request, notes), notes),
    answer(answer, createdSeconds) {
      const events = answerEvents(provider, answer)
      return events === undefined ? undefined : client.encodeAnswer(events, { createdSeconds, includeUsage: true })
    },
    error(error, status) {
      const decoded = provider.decodeError(error, status)
      return decoded === undefined ? undefined : client.encodeError(decoded)
    },
    stream: (options) => new Translator(provider.decodeStream(), client.encodeStream(options)),
    answerAsStream(answer, options: StreamOptions) {
      const encoder = client.encodeStream(options)
      return (answerEvents(provider, answer) ?? []).map((event) => encoder.event(event)).join('')
    },
  }
}

/** An error with the status of an answer is not an answer. */
function answerEvents(provider: ProviderChat, answer: JsonObject): readonly AnswerEvent[] | undefined {
  const events = provider.decodeAnswer(answer)
  return events?.some(({ kind }) => kind === 'error') === true ? undefined : events
}

class Translator implements StreamTranslator {
  readonly #decoder: StreamDecoder
  readonly #encoder: StreamEncoder
  #isFailed = false

  constructor(decoder: StreamDecoder, encoder: StreamEncoder) {
    this.#decoder = decoder
    this.#encoder = encoder
  }

  get isFailed(): boolean {
    return this.#isFailed
  }

  event(event: SseEvent): string {
    return this.#isFailed ? '' : this.#encoded(this.#decoder.event(event))
  }

  end(): string {
    return this.#isFailed ? '' : this.#encoded(this.#decoder.end())
  }

  #encoded(events: readonly AnswerEvent[]): string {
    let out = ''
    for (const event of events) {
      if (event.kind === 'error') this.#isFailed = true
      try {
        out += this.#encoder.event(event)
      } catch (error) {
        if (!(error instanceof AnswerTooLarge)) throw error
        this.#isFailed = true
        return out + this.#encoder.event({ kind: 'error', error: streamError(error.message) })
      }
    }
    return out
  }
}
