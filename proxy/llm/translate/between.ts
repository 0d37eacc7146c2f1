// A translation between any two formats, through the canonical form.
import { randomUUID } from 'node:crypto'
import type { SentFormatName } from '#api/llm/formats.ts'
import type { SseEvent } from '../../http/sse.ts'
import { streamError } from '../canonical/answer-writer.ts'
import type { AnswerEvent } from '../canonical/answer.ts'
import { AnswerTooLarge } from '../canonical/fold.ts'
import type { ClientChat, ProviderChat, StreamDecoder, StreamEncoder } from '../canonical/format.ts'
import { plainError } from '../formats/plain-error.ts'
import { asString, type JsonObject } from '../json.ts'
import { renamed, ToolNames } from './tool-names.ts'
import type { AnswerSource, StreamOptions, StreamTranslator, Translation } from './translation.ts'

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
    request(request, notes, names = new ToolNames()) {
      const decoded = client.decodeRequest(request, notes)
      names.group(decoded.namespaces)
      const { toolName } = provider
      const sent = toolName === undefined ? decoded : renamed(decoded, (name) => names.sent(name, toolName(name)))
      return provider.encodeRequest(sent, notes)
    },
    answer(answer, createdSeconds, source) {
      const events = answerEvents(provider, answer, source)
      for (const event of events ?? []) noteDropped(event, client, source)
      return events === undefined ? undefined : client.encodeAnswer(events, { createdSeconds, includeUsage: true })
    },
    error(error, status) {
      const decoded = provider.decodeError(error, status) ?? plainError(error, status)
      return decoded === undefined ? undefined : client.encodeError(decoded, status)
    },
    stream: (options) => new Translator(provider.decodeStream(), { client, options }),
    answerAsStream(answer, options: StreamOptions) {
      const encoder = client.encodeStream(options)
      return (answerEvents(provider, answer, options.source) ?? []).map((event) => encoder.event(event)).join('')
    },
  }
}

/** An error with the status of an answer is not an answer. */
function answerEvents(
  provider: ProviderChat,
  answer: JsonObject,
  source: AnswerSource | undefined,
): readonly AnswerEvent[] | undefined {
  const events = provider.decodeAnswer(answer)?.map((event) => completed(event, source))
  return events?.some(({ kind }) => kind === 'error') === true ? undefined : events
}

/** With the client's name of a tool, and with id and model where the provider sends none. */
function completed(event: AnswerEvent, source: AnswerSource | undefined): AnswerEvent {
  if (source === undefined) return event
  if (event.kind === 'start') {
    // The SDK of OpenAI loses the usage of a stream without an id.
    const id = event.id === '' ? (source.id ?? `gw-${randomUUID()}`) : event.id
    return { kind: 'start', id, model: event.model || source.model }
  }
  if (event.kind !== 'open' || event.part.kind !== 'toolCall') return event
  return { ...event, part: { ...event.part, ...source.names.restored(event.part.name) } }
}

/** A part that only its own format knows stays within it. */
function noteDropped(event: AnswerEvent, { hasImages }: ClientChat, source: AnswerSource | undefined): void {
  if (event.kind !== 'open') return
  const { part } = event
  if (part.kind === 'image' && !hasImages) source?.notes?.dropped('answer.image', 'the format has no images in answers')
  if (part.kind === 'opaque')
    source?.notes?.dropped(`answer.${nameOf(part.value)}`, 'only its own format has such a part')
}

const NAME_CHARS_MAX = 64

function nameOf(part: JsonObject): string {
  return (asString(part['type']) ?? Object.keys(part)[0] ?? 'part').slice(0, NAME_CHARS_MAX)
}

class Translator implements StreamTranslator {
  readonly #decoder: StreamDecoder
  readonly #client: ClientChat
  readonly #encoder: StreamEncoder
  readonly #source: AnswerSource | undefined
  #isFailed = false
  #isComplete = false

  constructor(
    decoder: StreamDecoder,
    { client, options }: { readonly client: ClientChat; readonly options: StreamOptions },
  ) {
    this.#decoder = decoder
    this.#client = client
    this.#encoder = client.encodeStream(options)
    this.#source = options.source
  }

  get isFailed(): boolean {
    return this.#isFailed
  }

  get isComplete(): boolean {
    return this.#isComplete
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
      else if (event.kind === 'finish') this.#isComplete = true
      noteDropped(event, this.#client, this.#source)
      try {
        out += this.#encoder.event(completed(event, this.#source))
      } catch (error) {
        if (!(error instanceof AnswerTooLarge)) throw error
        this.#isFailed = true
        return out + this.#encoder.event({ kind: 'error', error: streamError(error.message) })
      }
    }
    return out
  }
}
