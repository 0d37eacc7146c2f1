// What the parts of an answer share: the exchange, the call it answers, what was learnt of it.
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import type { LlmCall } from './call.ts'

export interface ReplyContext {
  readonly exchange: Exchange
  readonly call: LlmCall
  readonly facts: LlmFacts
  /** Of what is only observed. */
  readonly bodyBytesMax: number
  /** Of what is translated: a whole answer, or one event of a stream. */
  readonly translationBytesMax: number
}
