// A stream of events of the client's format behind the guards of responses.
import { FAILURES } from '../../../exchange/errors.ts'
import { SseParser, sseText, SseTooLarge } from '../../../http/sse.ts'
import type { Cancellable } from '../../../message/body.ts'
import type { HeaderList } from '../../../message/headers.ts'
import type { HttpResponse } from '../../../message/message.ts'
import { madeStream } from '../../../message/made-stream.ts'
import type { ReplyContext } from '../../reply-context.ts'
import { answerCheck } from '../answer.ts'
import { responseOf } from '../chain.ts'
import { type Blocked, isBlocked, StreamGuard } from './stream-guard.ts'

/** The same stream if it is not checked. `body`: its last event reports an error if there is one. */
export function checkedStream(
  context: ReplyContext,
  body: Cancellable<Buffer>,
  upstreamHeaders: HeaderList,
): Cancellable<Buffer> {
  const guard = guardOf(context, upstreamHeaders)
  return guard === undefined ? body : madeStream(checked(context, guard, body), () => body.cancel())
}

/** As `checkedStream`, for a complete stream of which nothing was sent: a rejection is a response of its own. */
export async function checkedEvents(
  context: ReplyContext,
  events: string,
  upstreamHeaders: HeaderList,
): Promise<string | HttpResponse> {
  const guard = guardOf(context, upstreamHeaders)
  if (guard === undefined) return events
  const parsed = new SseParser(context.translationBytesMax).push(Buffer.from(events))
  const sent = await guard.push(parsed)
  if (isBlocked(sent)) return responseOf(context.exchange, sent)
  const rest = await guard.end()
  return isBlocked(rest) ? responseOf(context.exchange, rest) : sseText(sent) + sseText(rest)
}

function guardOf(context: ReplyContext, upstreamHeaders: HeaderList): StreamGuard | undefined {
  const check = context.guards?.checksStreams === true ? answerCheck(context) : undefined
  if (check === undefined) return undefined
  return StreamGuard.of(context.call.conversion.client.name, {
    guards: check.guards,
    exchange: context.exchange,
    upstreamHeaders,
    heldBytesMax: context.translationBytesMax,
  })
}

async function* checked(context: ReplyContext, guard: StreamGuard, body: Cancellable<Buffer>): AsyncGenerator<Buffer> {
  const parser = new SseParser(context.translationBytesMax)
  try {
    for await (const chunk of body) {
      const sent = await guard.push(parser.push(chunk))
      if (isBlocked(sent)) {
        body.cancel()
        yield blocked(context, sent)
        return
      }
      if (sent.length > 0) yield Buffer.from(sseText(sent))
    }
    const rest = await guard.end()
    yield isBlocked(rest) ? blocked(context, rest) : Buffer.from(sseText(rest))
  } catch (error) {
    if (!(error instanceof SseTooLarge)) throw error
    body.cancel()
    yield blocked(context, { kind: 'failed', detail: error.message })
  }
}

/** The head is sent already: the client gets an error event in its own format, and nothing of what was held. */
function blocked({ exchange, call }: ReplyContext, result: Blocked): Buffer {
  exchange.reason = 'Guardrail'
  exchange.errorDetail = result.detail
  if (result.kind === 'failed') exchange.failure = 'promptGuardFailed'
  const message = result.kind === 'failed' ? FAILURES.promptGuardFailed.text : result.rejection.body
  return Buffer.from(call.conversion.client.errorEvent(message))
}
