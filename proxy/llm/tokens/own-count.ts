// Requests that count tokens, for providers with `tokenize` that cannot count: the proxy answers them.
import type { Exchange } from '../../exchange/exchange.ts'
import { HttpResponse } from '../../message/message.ts'
import type { OwnCount } from '../formats/format.ts'
import { asArray, type JsonObject } from '../json.ts'
import { messagesIn } from '../texts.ts'
import { tokenCounter } from './counters.ts'
import { encodingOf } from './encodings.ts'
import { promptTokens } from './prompt.ts'

export interface CountedRequest {
  readonly body: JsonObject
  /** The model that the provider would get. */
  readonly model: string
}

/** The messages as before a call, and the definitions of tools as JSON. undefined: the model cannot be counted. */
export async function answerCount(
  exchange: Exchange,
  own: OwnCount,
  { body, model }: CountedRequest,
): Promise<HttpResponse | undefined> {
  const { llm, connection } = exchange
  const encoding = encodingOf(model)
  if (encoding === undefined) return undefined
  const counter = tokenCounter(encoding)
  const tools = asArray(body['tools']).map((tool) => JSON.stringify(tool))
  const tokens =
    (await promptTokens(messagesIn(body, own.of) ?? [], counter, connection.signal)) +
    (await counter.count(tools, connection.signal))
  if (llm !== undefined) Object.assign(llm, { requestModel: model, countTokens: tokens })
  exchange.reason = 'DirectResponse'
  exchange.response = HttpResponse.local(200, JSON.stringify(own.answer(tokens)), [
    ['content-type', 'application/json'],
  ])
  return exchange.response
}
