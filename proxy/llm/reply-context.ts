// Shared by the parts of a response: the exchange, its call, the collected facts.
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import type { DerivedByKey } from '../message/derived-headers.ts'
import type { LlmCall } from './call.ts'
import type { GuardChains } from './guards/chain.ts'
import type { AnswerTexts } from './texts.ts'

export interface ReplyContext {
  readonly exchange: Exchange
  readonly call: LlmCall
  readonly facts: LlmFacts
  readonly guards: GuardChains | undefined
  /** By the content type that the proxy sets. */
  readonly answerHeaders: DerivedByKey<string | undefined>
  /** undefined: no expression reads the texts of the answer. */
  readonly texts?: AnswerTexts | undefined
  /** Whether another provider can get the request if this one fails; absent: none can. */
  readonly hasNext?: (() => boolean) | undefined
  /** Limit of observed responses. */
  readonly bodyBytesMax: number
  /** Limit of translated ones: a whole response, or one event of a stream. */
  readonly translationBytesMax: number
}
