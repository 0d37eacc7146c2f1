// Event streams chunk by chunk, never buffered as a whole: unchanged (usage observed), or translated.
import { messageOf } from '../exchange/diagnosis.ts'
import type { Cancellable } from '../message/body.ts'
import { madeStream } from '../message/made-stream.ts'
import type { SentFormat } from './formats/format.ts'
import { FRAMES } from './frames.ts'
import { asObject, asString, parseObject, type JsonObject } from './json.ts'
import type { ReplyContext } from './reply-context.ts'
import { SseParser, SseTooLarge, type SseEvent } from '../http/sse.ts'
import type { AnswerSource, Translation } from './translate/translation.ts'
import { reportIfBug } from '../exchange/defects.ts'

/** Forwards the provider's bytes unchanged and reads model, usage and first token. */
export function passThroughStream(context: ReplyContext, body: Cancellable<Buffer>): Cancellable<Buffer> {
  return madeStream(passedThrough(context, body), () => body.cancel())
}

export function translatedStream(
  context: ReplyContext,
  translation: Translation,
  body: Cancellable<Buffer>,
  source: AnswerSource,
): Cancellable<Buffer> {
  return madeStream(translated(context, { translation, source }, body), () => body.cancel())
}

async function* passedThrough(context: ReplyContext, body: Cancellable<Buffer>): AsyncGenerator<Buffer> {
  const observer = new StreamObserver(context)
  let isBetweenEvents = true
  try {
    for await (const chunk of body) {
      observer.push(chunk)
      isBetweenEvents = endsEvent(chunk)
      yield chunk
    }
    observer.end()
  } catch (error) {
    // Half an event would corrupt the next one.
    yield Buffer.from(`${isBetweenEvents ? '' : '\n\n'}${brokenStream(context, error)}`)
  }
}

/** Only observes: an event over the limit ends the observation, not the stream. */
class StreamObserver {
  readonly #context: ReplyContext
  #parser: SseParser | undefined
  #last = ''

  constructor(context: ReplyContext) {
    this.#context = context
    this.#parser = new SseParser(context.bodyBytesMax)
  }

  push(chunk: Buffer): void {
    try {
      for (const event of this.#parser?.push(chunk) ?? []) {
        observeEvent(this.#context, this.#context.call.conversion.sent, event)
        this.#last = event.data
      }
    } catch (error) {
      if (!(error instanceof SseTooLarge)) throw error
      this.#parser = undefined
      reportUnobserved(this.#context, error.message)
    }
  }

  /** The client got a truncated stream; the log reports it. */
  end(): void {
    const { call, exchange } = this.#context
    if (this.#parser === undefined || call.conversion.sent.lastEvent?.test(this.#last) !== false) return
    exchange.errorDetail ??= 'the stream of the provider ended without its final event'
  }
}

/** The response continues, but tokens of the rest are not counted. */
export function reportUnobserved({ exchange }: Pick<ReplyContext, 'exchange'>, reason: string): void {
  const text = `token usage was not read from the response: ${reason}`
  exchange.errorDetail ??= text
  exchange.trace?.note(text)
}

/** An end that is split over two chunks is not detected, which is harmless: a reader skips empty lines. */
function endsEvent(chunk: Buffer): boolean {
  const end = chunk.toString('latin1', Math.max(0, chunk.length - 4))
  return end.endsWith('\n\n') || end.endsWith('\r\n\r\n') || end.endsWith('\r\r')
}

async function* translated(
  context: ReplyContext,
  { translation, source }: { readonly translation: Translation; readonly source: AnswerSource },
  body: Cancellable<Buffer>,
): AsyncGenerator<Buffer> {
  const reader = FRAMES[context.call.conversion.sent.frames].reader(context.translationBytesMax)
  const translator = translation.stream({
    createdSeconds: Math.trunc(Date.now() / 1000),
    includeUsage: context.call.includeUsage,
    source,
  })
  try {
    for await (const chunk of body) {
      let text = ''
      for (const event of reader.push(chunk)) {
        observeEvent(context, context.call.conversion.sent, event)
        text += translator.event(event)
      }
      if (text !== '') yield Buffer.from(text)
    }
    const rest = translator.end()
    if (translator.isFailed) markFailed(context, 'the stream of the provider failed')
    if (rest !== '') yield Buffer.from(rest)
  } catch (error) {
    yield Buffer.from(brokenStream(context, error))
  }
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

/** The head is sent already: the client gets an error event in its own format. */
export function brokenStream(context: ReplyContext, error: unknown): string {
  reportIfBug('llm stream', error)
  markFailed(context, messageOf(error))
  return context.call.conversion.client.errorEvent('the stream of the provider ended early')
}

function markFailed({ exchange }: ReplyContext, detail: string): void {
  exchange.reason = 'UpstreamFailure'
  exchange.errorDetail ??= detail
}
