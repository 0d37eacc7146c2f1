// The guards of requests on the body of a chat request, behind the edits of its policies.
import type { SentFormatName } from '#api/llm/formats.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { HttpResponse } from '../../message/message.ts'
import type { RequestJson } from '../request-json.ts'
import { type GuardChains, responseOf, runGuards } from './chain.ts'
import { Conversation } from './conversation.ts'
import { FORMAT_TEXTS } from './text-fields.ts'

/** Writes masks to the members of the body. undefined: the request continues. */
export async function checkRequest(
  exchange: Exchange,
  json: RequestJson,
  guards: GuardChains | undefined,
  format: SentFormatName,
): Promise<HttpResponse | undefined> {
  const fields = FORMAT_TEXTS[format]
  if (guards === undefined || guards.request.length === 0 || fields === undefined) return undefined
  const conversation = Conversation.ofRequest(json.members, fields)
  const { spans } = conversation
  // Expressions of webhooks read the original request of the client.
  exchange.llmRequest = json.original
  const result = await runGuards(guards.request, { phase: 'Request', spans, exchange, upstreamHeaders: undefined })
  exchange.llmRequest = undefined
  if (result.kind !== 'passed') return responseOf(exchange, result)
  // The body is only written again where a text was replaced.
  const isMasked = conversation.write(result.texts, json.members) !== json.members
  if (isMasked) json.replace((members) => conversation.write(result.texts, members))
  return undefined
}
