// The response if no model can answer: in the form that SDKs of OpenAI show to their users.
import type { Exchange } from '../exchange/exchange.ts'
import { FAILURES } from '../exchange/errors.ts'
import { HttpResponse } from '../message/message.ts'

/** The `code` of each failure. */
const CODES = {
  modelRequestInvalid: 'invalid_request_body',
  modelMissing: 'missing_model',
  modelRequestTooLarge: 'request_body_too_large',
  modelNotFound: 'model_not_found',
  modelDenied: 'model_authorization_denied',
  virtualModelUnresolved: 'virtual_model_not_resolved',
  virtualModelNoMatch: 'virtual_model_no_matching_target',
  virtualModelTargetMissing: 'virtual_model_target_not_found',
} as const

export type ModelFailure = keyof typeof CODES

export function failModel(exchange: Exchange, failure: ModelFailure): void {
  exchange.fail(failure)
  const { status, text } = FAILURES[failure]
  const error = { message: text, type: 'invalid_request_error', code: CODES[failure] }
  exchange.response = HttpResponse.local(status, JSON.stringify({ error }), [['content-type', 'application/json']])
}
