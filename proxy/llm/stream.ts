// Event streams chunk by chunk, never buffered as a whole: unchanged (usage observed), or translated.
import { messageOf } from '../exchange/diagnosis.ts'
import { COALESCE_BYTES_MAX } from '../http/body-writer.ts'
import type { Cancellable } from '../message/body.ts'
import { type BodyObserver, IncomingBody } from '../message/incoming-body.ts'
import { madeStream } from '../message/made-stream.ts'
import { RelayedStream, type RelayWatcher } from '../message/relayed-stream.ts'
import { FRAMES } from './frames.ts'
import type { ReplyContext } from './reply-context.ts'
import { observeEvent, StreamObserver } from './stream-observer.ts'
import type { AnswerSource, Translation } from './translate/translation.ts'
import { reportIfBug } from '../exchange/defects.ts'

/** Of a stream whose text is made once, to observe it and to send it: longer bodies are sent as bytes. */
const SHARED_TEXT_BYTES_MAX = COALESCE_BYTES_MAX

/** Forwards the provider's bytes unchanged and reads model, usage and first token. */
export function passThroughStream(context: ReplyContext, body: Cancellable<Buffer>): Cancellable<Buffer> {
  const watcher = new PassThroughWatcher(context)
  if (!(body instanceof IncomingBody)) return madeStream(passedThrough(watcher, body), () => body.cancel())
  if (!body.isEnded) return new RelayedStream(body, watcher)
  // Nothing can fail any more: the body is sent as any other, without a copy for the watcher.
  const text = body.wholeText(SHARED_TEXT_BYTES_MAX)
  if (text === undefined) body.observe(watcher)
  else watcher.seenWhole(text)
  return body
}

export function translatedStream(
  context: ReplyContext,
  translation: Translation,
  body: Cancellable<Buffer>,
  source: AnswerSource,
): Cancellable<Buffer> {
  return madeStream(translated(context, { translation, source }, body), () => body.cancel())
}

async function* passedThrough(watcher: RelayWatcher, body: Cancellable<Buffer>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      watcher.seen(chunk, 0, chunk.length)
      yield chunk
    }
    watcher.over()
  } catch (error) {
    yield watcher.failed(error)
  }
}

class PassThroughWatcher implements RelayWatcher, BodyObserver {
  readonly #context: ReplyContext
  readonly #observer: StreamObserver
  #isBetweenEvents = true

  constructor(context: ReplyContext) {
    this.#context = context
    this.#observer = new StreamObserver(context)
  }

  seen(buffer: Buffer, start: number, end: number): void {
    this.#observer.push(start === 0 && end === buffer.length ? buffer : buffer.subarray(start, end))
    this.#isBetweenEvents = endsEvent(buffer, start, end)
  }

  /** The stream in latin1, which is not empty; in place of `seen` and `over`. */
  seenWhole(text: string): void {
    this.#observer.readWhole(text)
  }

  over(): void {
    this.#observer.end()
  }

  /** Half an event would corrupt the next one. */
  failed(error: unknown): Buffer {
    return Buffer.from(`${this.#isBetweenEvents ? '' : '\n\n'}${brokenStream(this.#context, error)}`)
  }
}

const LF = 10
const CR = 13

/** An end that is split over two chunks is not detected, which is harmless: a reader skips empty lines. */
function endsEvent(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < 2) return false
  const last = bytes[end - 1]
  const beforeLast = bytes[end - 2]
  if (last === beforeLast) return last === LF || last === CR
  if (last !== LF || beforeLast !== CR || end - start < 4) return false
  return bytes[end - 3] === LF && bytes[end - 4] === CR
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
        observeEvent(context, context.call.conversion.sent, event.data)
        text += translator.event(event)
      }
      if (text !== '') yield Buffer.from(text)
      // Nothing may follow an error, and the provider may not end its stream.
      if (translator.isFailed) break
    }
    const rest = translator.end()
    if (translator.isFailed) markFailed(context, 'the stream of the provider failed')
    if (rest !== '') yield Buffer.from(rest)
  } catch (error) {
    if (translator.isComplete) context.exchange.errorDetail ??= messageOf(error)
    else yield Buffer.from(brokenStream(context, error))
  }
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
