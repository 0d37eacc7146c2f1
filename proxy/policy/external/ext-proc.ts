// External processing: a service sees requests and responses and may change both (specification, ExtProc; data-plane
// supplement section 7.4). Its failure rejects the request, unless the policy allows it and no body was sent yet.
import type { ExtProc, ExtProcOrConditional } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { discardBody } from '../../http/body-writer.ts'
import type { HttpResponse } from '../../message/message.ts'
import { compileConditional } from '../../chain/conditional.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { readsBody } from '../../cel/evaluate.ts'
import { responseFor } from './ext-proc/failure.ts'
import { compileContext } from './ext-proc/messages.ts'
import { modesOf } from './ext-proc/modes.ts'
import { showWhole } from './ext-proc/response.ts'
import { Session, SessionOver, type SessionConfig } from './ext-proc/session.ts'
import { Side } from './ext-proc/side.ts'
import { requestSubject } from './ext-proc/subject.ts'
import { makeWhole } from './ext-proc/whole-body.ts'
import type { CompiledPolicy, Verdict } from '../../chain/filter.ts'

type Environment = Pick<ChainEnvironment, 'expression' | 'service'>

export function compileExtProc(payload: ExtProcOrConditional, environment: Environment): CompiledPolicy {
  return 'conditional' in payload
    ? compileConditional(payload.conditional, environment, (policy) => compilePlain(policy, environment))
    : compilePlain(payload, environment)
}

function compilePlain(policy: ExtProc, environment: Environment): CompiledPolicy {
  const config: SessionConfig = {
    service: environment.service(policy.service, 'ExtProc'),
    context: compileContext(policy, environment),
    modes: modesOf(policy.processingOptions),
    allowsOverride: policy.processingOptions?.allowModeOverride === true,
    failsOpen: policy.failureMode === 'FailOpen',
  }
  const { expressions } = config.context
  return {
    request: (exchange) => processRequest(exchange, config),
    response: (exchange) => processResponse(exchange, config),
    finished: (exchange) => sessionOf(exchange, config)?.close(),
    readsRequestBody: readsBody(expressions, 'request'),
    readsResponseBody: readsBody(expressions, 'response'),
  }
}

/** undefined: the request did not reach this filter. */
function sessionOf(exchange: Exchange, config: SessionConfig): Session | undefined {
  // Only `processRequest` writes under this key.
  return exchange.policyState?.get(config) as Session | undefined
}

async function processRequest(exchange: Exchange, config: SessionConfig): Promise<Verdict> {
  const session = new Session(exchange, config)
  ;(exchange.policyState ??= new Map()).set(config, session)
  const wasWhole = Buffer.isBuffer(exchange.request.body)
  const side = new Side(session, requestSubject(exchange))
  try {
    await side.run()
    // A filter that buffered the whole body may read the processed one.
    if (wasWhole) await makeWhole(exchange)
    exchange.trace?.note('the processor allows the request')
    return undefined
  } catch (error) {
    if (!(error instanceof SessionOver)) throw error
    if (!session.isSkipped) return report(exchange, session)
    exchange.trace?.skip('the processor failed; failureMode FailOpen allows the request')
    side.restore()
    return undefined
  }
}

function processResponse(exchange: Exchange, config: SessionConfig): Verdict | Promise<Verdict> {
  const session = sessionOf(exchange, config)
  const { response } = exchange
  if (session === undefined || response === undefined || session.isReported) return undefined
  if (session.outcome !== undefined) {
    discardBody(response.body)
    return report(exchange, session)
  }
  // Responses of the proxy itself are not processed.
  if (!response.isLocal && !session.isSkipped && !session.hasLeft) return showResponse(exchange, session, response)
  session.close()
  return undefined
}

async function showResponse(exchange: Exchange, session: Session, response: HttpResponse): Promise<Verdict> {
  if (await showWhole(session, response)) return undefined
  return report(exchange, session)
}

/** Replaces the message that could not be processed; once. */
function report(exchange: Exchange, session: Session): HttpResponse {
  session.isReported = true
  return responseFor(exchange, session.outcome)
}
