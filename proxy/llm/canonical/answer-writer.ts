// Collects the events of an answer for a decoder and keeps their grammar, whatever the provider sent: parts that were
// never opened get nothing, open parts are closed at the end, a tool call without arguments gets `{}`.
import { parseExactObject, type JsonObject } from '../json.ts'
import type { AnswerEvent, FinishReason, ModelError, OpenPart, TokenLogprob, Usage } from './answer.ts'
import type { Citation, Signature } from './request.ts'

/** Of one answer. Each is an object in memory, however short its text is. */
const PARTS_MAX = 100_000
/** Of one part that waits for its end; further ones stay without a range. */
const CITATIONS_MAX = 10_000

interface OpenState {
  readonly kind: OpenPart['kind']
  /** What a tool call has as arguments if none follow. */
  fallback: string | undefined
  /** Of tokens that were no whole character. */
  logprobs: readonly TokenLogprob[]
  /** UTF-16 units of its text so far. */
  length: number
  /** Without a range: they belong to the whole part. */
  cited: Citation[]
}

export class AnswerWriter {
  #events: AnswerEvent[] = []
  #state: 'before' | 'open' | 'done' = 'before'
  #parts = 0
  readonly #open = new Map<number, OpenState>()

  get isDone(): boolean {
    return this.#state === 'done'
  }

  get isStarted(): boolean {
    return this.#state !== 'before'
  }

  /** The events since the last call. */
  take(): readonly AnswerEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  start(id: string, model: string): void {
    if (this.#state !== 'before') return
    this.#state = 'open'
    this.#events.push({ kind: 'start', id, model })
  }

  /** `argumentsText`: what a tool call has if no arguments follow. */
  open(part: OpenPart, argumentsText = '{}'): number {
    const index = this.#parts++
    if (index === PARTS_MAX) this.fail(streamError(`the provider sent more than ${PARTS_MAX} parts of an answer`))
    if (this.isDone) return index
    this.start('', '')
    this.#open.set(index, {
      kind: part.kind,
      fallback: part.kind === 'toolCall' ? argumentsText : undefined,
      logprobs: [],
      length: 0,
      cited: [],
    })
    this.#events.push({ kind: 'open', index, part })
    return index
  }

  text(index: number, text: string, logprobs: readonly TokenLogprob[] = []): void {
    const part = this.#open.get(index)
    if (part?.kind !== 'text' && part?.kind !== 'refusal' && part?.kind !== 'reasoning') return
    const all = part.logprobs.length === 0 ? logprobs : [...part.logprobs, ...logprobs]
    part.logprobs = text === '' ? all : []
    part.length += text.length
    if (text !== '') this.#events.push({ kind: 'text', index, text, ...(all.length > 0 && { logprobs: all }) })
  }

  arguments(index: number, text: string): void {
    const part = this.#open.get(index)
    if (text === '' || part?.kind !== 'toolCall') return
    part.fallback = undefined
    this.#events.push({ kind: 'arguments', index, text })
  }

  /** One without a range follows at the end of its part, and covers it. */
  citation(index: number, citation: Citation): void {
    const part = this.#open.get(index)
    if (part?.kind !== 'text') return
    const isRanged = citation.start !== undefined && citation.end !== undefined
    if (isRanged || part.cited.length === CITATIONS_MAX) this.#events.push({ kind: 'citation', index, citation })
    else part.cited.push(citation)
  }

  signature(index: number, signature: Signature): void {
    if (this.#open.get(index)?.kind === 'reasoning') this.#events.push({ kind: 'signature', index, signature })
  }

  close(index: number): void {
    const part = this.#open.get(index)
    if (part === undefined) return
    if (part.fallback !== undefined) this.arguments(index, part.fallback)
    this.#open.delete(index)
    for (const one of part.cited) {
      this.#events.push({ kind: 'citation', index, citation: { ...one, start: 0, end: part.length } })
    }
    this.#events.push({ kind: 'close', index })
  }

  /** Counts that are undefined are left out. */
  usage(counts: { readonly [K in keyof Usage]?: number | undefined }): void {
    const usage = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined))
    if (this.isDone || Object.keys(usage).length === 0) return
    this.start('', '')
    this.#events.push({ kind: 'usage', usage })
  }

  finish(reason: FinishReason, stopSequence?: string): void {
    if (this.isDone) return
    this.start('', '')
    for (const index of this.#open.keys()) this.close(index)
    this.#state = 'done'
    this.#events.push({ kind: 'finish', reason, stopSequence })
  }

  /** Of one event of a stream; undefined: it is not valid JSON, and the answer has failed. */
  json(data: string): JsonObject | undefined {
    const json = parseExactObject(data)
    if (json === undefined) this.fail(streamError('the provider sent an event that is not valid JSON'))
    return json
  }

  /** The stream ended before the answer. */
  failEarly(): void {
    this.fail(streamError('the provider ended its stream before the response was complete'))
  }

  fail(error: ModelError): void {
    if (this.isDone) return
    this.#state = 'done'
    this.#open.clear()
    this.#events.push({ kind: 'error', error })
  }
}

/** An error of the stream itself, as opposed to one that the provider reports. */
export function streamError(message: string): ModelError {
  return { kind: 'api', message, vendorType: undefined, vendorCode: undefined }
}
