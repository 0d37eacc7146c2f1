// The interface between the policy and the two protocols of authorization services.
import type { ServiceCaller } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { Decision } from './decision.ts'

export interface Question {
  readonly exchange: Exchange
  /** The whole request body, if it is forwarded. */
  readonly body: Buffer | undefined
}

export interface Answer {
  readonly decision: Decision
  readonly isCacheable: boolean
}

export interface AuthorizationProtocol {
  readonly readsRequestBody: boolean
  /** @throws {ServiceError} without a usable response. */
  ask(question: Question, service: ServiceCaller): Promise<Answer>
}
