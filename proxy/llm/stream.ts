// Event streams chunk by chunk, never buffered as a whole: unchanged (usage observed), or translated.
import { messageOf } from '../exchange/diagnosis.ts'
import { arrivedBody, TEXT_BYTES_MAX } from '../message/arrived-body.ts'
import type { Cancellable } from '../message/body.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import { madeStream } from '../message/made-stream.ts'
import { RelayedStream, type RelayWatcher } from '../message/relayed-stream.ts'
import { FRAMES } from './frames.ts'
import type { ReplyContext } from './reply-context.ts'
import { observeEvent, StreamObserver } from './stream-observer.ts'
import type { AnswerSource, Translation } from './translate/translation.ts'
import { reportIfBug } from '../exchange/defects.ts'

/** Forwards the provider's bytes unchanged and reads model, usage and first token. */
export function passThroughStream(context: ReplyContext, body: Cancellable<Buffer>): Cancellable<Buffer> {
  const watcher = passThroughWatcher(context)
  if (body instanceof IncomingBody) return new RelayedStream(body, watcher)
  return madeStream(passedThrough(watcher, body), () => body.cancel())
}

/** As `passThroughStream`, if the whole stream has arrived. undefined: it has not, or is too large. */
export function passThroughWhole(context: ReplyContext, body: Cancellable<Buffer>): Buffer | string | undefined {
  const whole = body instanceof IncomingBody ? arrivedBody(body, TEXT_BYTES_MAX) : undefined
  if (whole === undefined) return undefined
  const observer = new StreamObserver(context)
  observer.push(whole)
  observer.end()
  return whole
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
      watcher.seen(chunk)
      yield chunk
    }
    watcher.ended()
  } catch (error) {
    yield watcher.failed(error)
  }
}

function passThroughWatcher(context: ReplyContext): RelayWatcher {
  const observer = new StreamObserver(context)
  let isBetweenEvents = true
  return {
    seen(chunk) {
      observer.push(chunk)
      isBetweenEvents = endsEvent(chunk)
    },
    ended() {
      observer.end()
    },
    // Half an event would corrupt the next one.
    failed: (error) => Buffer.from(`${isBetweenEvents ? '' : '\n\n'}${brokenStream(context, error)}`),
  }
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
