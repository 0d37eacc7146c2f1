// The guards of responses on a whole answer in the format of the client.
import type { HeaderList } from '../../message/headers.ts'
import type { HttpResponse } from '../../message/message.ts'
import type { JsonObject } from '../json.ts'
import type { ReplyContext } from '../reply-context.ts'
import { type ChainedGuard, responseOf, runGuards } from './chain.ts'
import { Conversation } from './conversation.ts'
import { FORMAT_TEXTS, type FormatTexts } from './text-fields.ts'

/** What checks the answers of a call. */
export interface AnswerCheck {
  readonly guards: readonly ChainedGuard[]
  readonly fields: FormatTexts
}

/** undefined: answers are not checked. */
export function answerCheck({ guards, call }: ReplyContext): AnswerCheck | undefined {
  const fields = FORMAT_TEXTS[call.conversion.client.name]
  if (guards === undefined || guards.response.length === 0 || fields === undefined) return undefined
  return { guards: guards.response, fields }
}

/** The same object if no text was replaced. */
export async function checkAnswer(
  { exchange }: ReplyContext,
  answer: JsonObject,
  { guards, fields }: AnswerCheck,
  upstreamHeaders: HeaderList,
): Promise<JsonObject | HttpResponse> {
  const conversation = Conversation.ofAnswer(answer, fields)
  const result = await runGuards(guards, { phase: 'Response', spans: conversation.spans, exchange, upstreamHeaders })
  return result.kind === 'passed' ? conversation.write(result.texts, answer) : responseOf(exchange, result)
}
