// The contract of prompt guards (data-plane supplement section 3.6): a guard gets the texts of a request or of a
// response and decides. It neither reads nor writes bodies, and it writes no text of a conversation to a log, a trace
// or an error.
import type { Exchange } from '../../exchange/exchange.ts'
import type { HeaderList } from '../../message/headers.ts'

/** Labels in logs, metrics and traces. */
export type GuardName = 'regex' | 'webhook' | 'moderationApi' | 'guardrailsA' | 'guardrailsC'

export type GuardPhase = 'Request' | 'Response'

/** One text of a conversation; guards that call a service send one entry for each. */
export interface TextSpan {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  /** Place in the body, such as `messages[2].content[0].text`. For logs: it has no text of the user. */
  readonly at: string
}

export interface GuardedTexts {
  readonly phase: GuardPhase
  /** In the order of the conversation, with the masks of the previous guards. At least one. */
  readonly spans: readonly TextSpan[]
  /** The request of the client, for expressions, calls of services, the trace, and the deadline. */
  readonly exchange: Exchange
  /** Of the response of the provider; undefined in the phase `Request`. */
  readonly upstreamHeaders: HeaderList | undefined
}

export type GuardVerdict =
  | { readonly kind: 'pass' }
  /** `texts` replace the texts of `spans`, position by position; another number of texts is a failure of the guard. */
  | { readonly kind: 'mask'; readonly texts: readonly string[]; readonly matched: readonly string[] }
  /** `rejection`: undefined for the response that the policy has for rejections. */
  | { readonly kind: 'reject'; readonly rejection?: Rejection | undefined; readonly matched: readonly string[] }

/** `matched` of a verdict: names of patterns, filters or categories for logs, metrics and traces; never their text. */
export const PASS: GuardVerdict = { kind: 'pass' }

/** What a client gets in place of a rejected request or response. */
export interface Rejection {
  readonly status: number
  readonly body: string
  /** Names in lower case. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined
}

export interface Guard {
  readonly name: GuardName
  /** If the guard fails: `FailClosed` answers 503, `FailOpen` continues with the next guard. */
  readonly failureMode: 'FailClosed' | 'FailOpen'
  /**
   * A call of a service has a deadline of its own (10 s), ends at the deadline of the exchange and if the client closes
   * the connection: `ServiceCaller.http` does all three.
   * @throws {ServiceError} (chain/service.ts) if the guard has no verdict; its text is for the log.
   */
  check(texts: GuardedTexts): GuardVerdict | Promise<GuardVerdict>
}
