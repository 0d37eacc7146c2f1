// Calls an endpoint picker to select the endpoint of a request, by the endpoint picker protocol of the Gateway API
// Inference Extension: external processing in both directions. Selection among endpoints is picked-endpoints.ts.
import type { InferenceRouting } from '#api/ir/types.gen.ts'
import { PickedEndpoints } from '../../backend/picked-endpoints.ts'
import { at } from '../../exchange/diagnosis.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { HttpResponse } from '../../message/message.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { failedResponse, responseFor } from './ext-proc/failure.ts'
import { modesOf } from './ext-proc/modes.ts'
import { DESTINATION, PickSession } from './ext-proc/pick-session.ts'
import { showWhole } from './ext-proc/response.ts'
import { SessionOver, type SessionConfig } from './ext-proc/session.ts'
import { Side } from './ext-proc/side.ts'
import { requestSubject, type Subject } from './ext-proc/subject.ts'
import { makeWhole } from './ext-proc/whole-body.ts'
import type { CompiledPolicy, Verdict } from '../../chain/filter.ts'

/** Limit of endpoints to try. */
const LABELS_MAX = 32

export function compileInferenceRouting(
  policy: InferenceRouting,
  environment: Pick<ChainEnvironment, 'service'>,
): CompiledPolicy {
  const config: SessionConfig = {
    service: environment.service(policy.picker, 'ExtProc'),
    context: { attributes: { request: [], response: [] }, metadata: [], callMetadata: [], expressions: [] },
    modes: modesOf(),
    allowsOverride: false,
    failsOpen: policy.failureMode === 'FailOpen',
  }
  return {
    request: (exchange) => pick(exchange, config),
    response: (exchange) => showResponse(exchange, config),
  }
}

/** The session of the current try, and the endpoints of earlier tries. */
interface PickState {
  readonly session: PickSession
  readonly tried: Set<string>
}

function stateOf(exchange: Exchange, config: SessionConfig): PickState | undefined {
  // Only `pick` writes under this key.
  return exchange.policyState?.get(config) as PickState | undefined
}

async function pick(exchange: Exchange, config: SessionConfig): Promise<Verdict> {
  const { request } = exchange
  // Values of clients are ignored.
  request.headers.remove(DESTINATION)
  if (config.failsOpen && !(await hold(exchange))) return exchange.response
  const { body } = request
  const session = new PickSession(exchange, config, body === undefined || Buffer.isBuffer(body))
  const tried = stateOf(exchange, config)?.tried ?? new Set()
  ;(exchange.policyState ??= new Map()).set(config, { session, tried })
  if (!(await showRequest(exchange, session))) return refusal(exchange, session)
  const labels = session.isOver ? [] : labelsOf(session.destination ?? request.headers.get(DESTINATION))
  if (labels.length === 0 && !config.failsOpen) {
    session.close()
    return exchange.fail('noHealthyBackends', 'the endpoint picker selected no endpoint')
  }
  const closed = (): void => session.close()
  exchange.picked = new PickedEndpoints({ labels, mayBalance: config.failsOpen, tried, closed })
  return undefined
}

/** False: the request must not be forwarded. True also if it is forwarded unchanged. */
async function showRequest(exchange: Exchange, session: PickSession): Promise<boolean> {
  const { body } = exchange.request
  const subject = requestSubject(exchange)
  const side = new Side(session, subject)
  const isHeld = body === undefined || Buffer.isBuffer(body)
  try {
    await side.run()
    if (isHeld) await makeWhole(exchange)
    session.requestIsSettled()
  } catch (error) {
    if (!(error instanceof SessionOver)) throw error
    if (!session.config.failsOpen || session.outcome?.kind === 'Answered') return false
    if (isHeld) restore(exchange, subject, body)
    else if (session.isSkipped) side.restore()
    else return false
  }
  return true
}

/** A body in memory can be forwarded without the picker, whatever was sent to it. False: the client's body broke. */
async function hold(exchange: Exchange): Promise<boolean> {
  const { request, flow } = exchange
  const { body } = request
  if (body === undefined || Buffer.isBuffer(body)) return true
  try {
    const whole = await body.tryCollect(flow?.bodyBytesMax ?? 0)
    if (whole !== undefined) request.body = whole
    return true
  } catch (error) {
    exchange.fail('invalidRequest', String(error))
    return false
  }
}

function restore({ request }: Exchange, subject: Subject, body: Buffer | undefined): void {
  subject.restore()
  request.body = body
}

function labelsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',', LABELS_MAX)
    .map((label) => label.trim())
    .filter((label) => label !== '')
}

const PICKER = 'endpoint picker'

/** Instead of a response of the backend. */
function refusal(exchange: Exchange, { outcome }: PickSession): HttpResponse {
  return responseFor(exchange, outcome, PICKER)
}

/** The picker gets the endpoint that answered, and the response. */
function showResponse(exchange: Exchange, config: SessionConfig): Verdict | Promise<Verdict> {
  const session = stateOf(exchange, config)?.session
  const { response } = exchange
  if (session === undefined || response === undefined) return undefined
  if (!response.isLocal && !session.isOver && !session.hasLeft) return show(exchange, session, response)
  session.close()
  return undefined
}

async function show(exchange: Exchange, session: PickSession, response: HttpResponse): Promise<Verdict> {
  session.responseIsShown()
  if (await showWhole(session, response)) return undefined
  return failedResponse(exchange, at(PICKER, 'it failed during the response'))
}
