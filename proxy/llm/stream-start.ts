// The start of a stream, held back until the provider sends content or reports an error: until then another provider
// can get the request. Must not hold a stream that no other provider can take over.
import { BodyAborted, type Cancellable } from '../message/body.ts'
import { madeStream } from '../message/made-stream.ts'
import type { AnswerEvent, ModelError } from './canonical/answer.ts'
import type { StreamDecoder } from './canonical/format.ts'
import type { FrameReader } from './frames.ts'

/** Limit of held bytes: the first events of responses repeat instructions and tools of the request. */
export const HELD_BYTES_MAX = 65_536
/** Limit of the wait for content, from the head of the response: models that think may be silent for long. */
export const HELD_MS_MAX = 2000

/** Events that precede content: they neither show that the provider answers nor that it has failed. */
const OPENING: ReadonlySet<AnswerEvent['kind']> = new Set<AnswerEvent['kind']>(['start', 'usage'])

const ENDED = 'the stream ended before its first content'

export interface StreamStart {
  /** What the provider reports in place of content; undefined: content, or nothing within the limits. */
  readonly error: ModelError | undefined
  /** The whole stream, with the held bytes. */
  readonly body: Cancellable<Buffer>
}

export interface StartReaders {
  readonly frames: FrameReader
  readonly decoder: StreamDecoder
}

/**
 * Reads up to the first event with content. Only reads a copy: the bytes of the stream stay unchanged.
 * @throws if the stream breaks, ends without content, or has frames that cannot be read; the caller cancels `body`
 */
export async function readStart(body: Cancellable<Buffer>, { frames, decoder }: StartReaders): Promise<StreamStart> {
  const iterator = body[Symbol.asyncIterator]()
  const held: Buffer[] = []
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, HELD_MS_MAX, undefined)
  const released = (pending?: Held['pending'], error?: ModelError): StreamStart => ({
    error,
    body: madeStream(resumed({ held, pending, iterator }), () => body.cancel()),
  })
  try {
    for (let bytes = 0; bytes < HELD_BYTES_MAX;) {
      const pending = iterator.next()
      const step = await Promise.race([pending, late])
      if (step === undefined) return released(pending)
      if (step.done === true) {
        if (decoder.end().some(({ kind }) => kind === 'error')) throw new BodyAborted(ENDED)
        return released(pending)
      }
      held.push(step.value)
      bytes += step.value.length
      const events = frames.push(step.value).flatMap((event) => decoder.event(event))
      const shown = events.find(({ kind }) => !OPENING.has(kind))
      if (shown !== undefined) return released(undefined, shown.kind === 'error' ? shown.error : undefined)
    }
    return released()
  } finally {
    clearTimeout(timer)
  }
}

interface Held {
  readonly held: readonly Buffer[]
  /** The read that was not finished within the time. */
  readonly pending: Promise<IteratorResult<Buffer, unknown>> | undefined
  readonly iterator: AsyncIterator<Buffer, unknown>
}

async function* resumed({ held, pending, iterator }: Held): AsyncGenerator<Buffer, void> {
  yield* held
  for (let step = await (pending ?? iterator.next()); step.done !== true; step = await iterator.next()) yield step.value
}
