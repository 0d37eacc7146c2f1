// Event streams chunk by chunk, never gathered: as they are (usage observed), or translated.
import type { Cancellable } from '../http/body.ts'
import { madeStream } from '../http/made-stream.ts'
import { asArray, asObject, asString, parseObject, type JsonObject } from './json.ts'
import type { WireFormat } from './provider.ts'
import type { ReplyContext } from './reply-context.ts'
import { sseData, SseParser, SseTooLarge, type SseEvent } from './sse.ts'
import { messagesStreamToCompletions } from './translate/completions-stream.ts'
import { observe } from './usage.ts'

/** Forwards the provider's bytes untouched and reads model, usage and first token beside it. */
export function passThroughStream(context: ReplyContext, body: Cancellable<Buffer>): Cancellable<Buffer> {
  return madeStream(passedThrough(context, body), () => body.cancel())
}

export function translatedStream(context: ReplyContext, body: Cancellable<Buffer>): Cancellable<Buffer> {
  return madeStream(translated(context, body), () => body.cancel())
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
    // Half an event would swallow what follows it.
    yield Buffer.from(`${isBetweenEvents ? '' : '\n\n'}${brokenStream(context, error)}`)
  }
}

/** What the last event of a whole answer holds. */
const LAST_EVENT: Readonly<Partial<Record<WireFormat, RegExp>>> = {
  Completions: /^\[DONE\]$/,
  Messages: /"message_stop"/,
  Responses: /"response\.(?:completed|incomplete|failed)"/,
}

/** Only looks on: an event over the limit ends what it learns, not the stream. */
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
        observeEvent(this.#context, event)
        this.#last = event.data
      }
    } catch (error) {
      if (!(error instanceof SseTooLarge)) throw error
      this.#parser = undefined
      reportUnobserved(this.#context, error.message)
    }
  }

  /** The client got what there was; that it is not all is for the log. */
  end(): void {
    const { call, exchange } = this.#context
    if (this.#parser === undefined || LAST_EVENT[call.sentFormat]?.test(this.#last) !== false) return
    exchange.errorDetail ??= 'the stream of the provider ended without its last event'
  }
}

/** The answer goes on, but tokens of the rest are not counted. */
export function reportUnobserved({ exchange }: ReplyContext, reason: string): void {
  const text = `the answer of the provider was not read for usage: ${reason}`
  exchange.errorDetail ??= text
  exchange.trace?.note(text)
}

/** An end that came in two chunks counts as none, which is harmless: a reader skips empty lines. */
function endsEvent(chunk: Buffer): boolean {
  const end = chunk.toString('latin1', Math.max(0, chunk.length - 4))
  return end.endsWith('\n\n') || end.endsWith('\r\n\r\n') || end.endsWith('\r\r')
}

async function* translated(context: ReplyContext, body: Cancellable<Buffer>): AsyncGenerator<Buffer> {
  const parser = new SseParser(context.translationBytesMax)
  const translator = messagesStreamToCompletions({
    createdSeconds: Math.trunc(Date.now() / 1000),
    includeUsage: context.call.includeUsage,
  })
  try {
    for await (const chunk of body) {
      let text = ''
      for (const event of parser.push(chunk)) {
        observeEvent(context, event)
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

function observeEvent({ facts, call, exchange }: ReplyContext, { data }: SseEvent): void {
  const needsFirstToken = facts.timeToFirstTokenMs === undefined
  // Most events of a stream are one token each: they are only parsed while something is still to be learnt.
  if (!needsFirstToken && !data.includes('"usage"') && !data.includes('"error"')) return
  const json = parseObject(data)
  if (json === undefined) return
  observe(facts, call.sentFormat, json)
  if (needsFirstToken && hasContent(call.sentFormat, json)) {
    facts.timeToFirstTokenMs = performance.now() - exchange.startMs
  }
  if (json['type'] === 'error' || json['error'] !== undefined) {
    exchange.reason = 'UpstreamFailure'
    exchange.errorDetail = `the provider reported an error in its stream: ${asString(asObject(json['error'])['type']) ?? 'unknown'}`
  }
}

function hasContent(format: WireFormat, json: JsonObject): boolean {
  if (format === 'Messages') return json['type'] === 'content_block_delta'
  if (format !== 'Completions') return asString(json['type'])?.endsWith('.delta') === true
  return asArray(json['choices']).some((choice) => {
    const delta = asObject(asObject(choice)['delta'])
    return (asString(delta['content']) ?? '') !== '' || asArray(delta['tool_calls']).length > 0
  })
}

/** The head is gone already: the client learns of the failure by an error event in its own dialect. */
function brokenStream(context: ReplyContext, error: unknown): string {
  markFailed(context, error instanceof Error ? error.message : String(error))
  const message = 'the stream of the provider broke off'
  if (context.call.clientFormat === 'Messages') {
    return `event: error\n${sseData({ type: 'error', error: { type: 'api_error', message } })}`
  }
  return sseData({ error: { message, type: 'api_error', param: null, code: null } })
}

function markFailed({ exchange }: ReplyContext, detail: string): void {
  exchange.reason = 'UpstreamFailure'
  exchange.errorDetail ??= detail
}
