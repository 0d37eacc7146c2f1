// The answer to a chat request in no vendor's format: a list of events. A whole answer is the fold of the same events
// (fold.ts), so that a stream and a whole answer cannot differ.
import type { Citation, OpaqueValue, Signature } from './request.ts'

/**
 * The grammar: `start` (`open` (`text` | `arguments` | `citation` | `signature`)* `close`)* `finish`, with `usage`
 * anywhere between `start` and `finish`; `error` ends the answer in any state. Parts may overlap. AnswerWriter makes
 * events of this grammar whatever the provider sent; grammar.testing.ts checks it.
 */
export type AnswerEvent =
  | { readonly kind: 'start'; readonly id: string; readonly model: string }
  | { readonly kind: 'open'; readonly index: number; readonly part: OpenPart }
  /** Of a text, a refusal or reasoning; never empty. */
  | {
      readonly kind: 'text'
      readonly index: number
      readonly text: string
      /** Absent: the provider sends none. */
      readonly logprobs?: readonly TokenLogprob[]
    }
  /** JSON text of a tool call; never empty. Each call has some: `{}` where the tool takes none. */
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string }
  | { readonly kind: 'citation'; readonly index: number; readonly citation: Citation }
  | { readonly kind: 'signature'; readonly index: number; readonly signature: Signature }
  | { readonly kind: 'close'; readonly index: number }
  | { readonly kind: 'usage'; readonly usage: Partial<Usage> }
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly stopSequence: string | undefined }
  | { readonly kind: 'error'; readonly error: ModelError }

/** The probability of one token of a text, if the request asks for it. */
export interface TokenLogprob extends TokenChance {
  /** The most probable tokens in its place, as many as the request asks for. */
  readonly top: readonly TokenChance[]
}

export interface TokenChance {
  readonly token: string
  readonly logprob: number
  /** A token may be a part of a character. undefined: those of `token` in UTF-8. */
  readonly bytes: readonly number[] | undefined
}

export type PartEvent = Extract<AnswerEvent, { readonly index: number }>

/** Of the tool that is called. */
export interface CalledName {
  readonly name: string
  /** The group of the tool in the request of the client; absent: none. */
  readonly namespace?: string
}

/** `index` of the events counts parts from 0 in the order of `open`. */
export type OpenPart =
  | { readonly kind: 'text' | 'refusal' }
  | { readonly kind: 'reasoning'; readonly isSummary: boolean }
  | ({ readonly kind: 'toolCall'; readonly id: string } & CalledName)
  /** Both are complete when they open. */
  | ({ readonly kind: 'image' } & AnswerImage)
  | ({ readonly kind: 'opaque' } & OpaqueValue)

export interface AnswerImage {
  readonly mediaType: string
  /** Base64. */
  readonly data: string
}

/** `pause`: the vendor stopped a long turn, and the client may continue it. */
export type FinishReason =
  | 'stop'
  | 'stopSequence'
  | 'length'
  | 'contextLength'
  | 'toolCalls'
  | 'contentFilter'
  | 'refusal'
  | 'pause'

/**
 * Token counts with one meaning for all vendors (data-plane supplement section 3.5). Absent values are unknown; an
 * event never erases a known count.
 */
export interface Usage {
  /** With cache reads and writes, and audio. */
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly inputAudioTokens: number
  /** With reasoning and audio. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly outputAudioTokens: number
}

/** An error of a provider, before or within a stream. */
export interface ModelError {
  readonly kind: ErrorKind
  readonly message: string
  /** As the vendor spells it. */
  readonly vendorType: string | undefined
  readonly vendorCode: string | undefined
}

export type ErrorKind =
  | 'invalidRequest'
  | 'authentication'
  | 'permission'
  | 'notFound'
  | 'requestTooLarge'
  | 'rateLimit'
  | 'overloaded'
  | 'timeout'
  | 'api'
