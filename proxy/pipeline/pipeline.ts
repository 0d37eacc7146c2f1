// The steps of one request: listener, PreRouting chain, route, PostRouting chain, backend, response filters (data-plane
// supplement section 1.2). Runs compiled plans only; no promise unless a filter returns one.
import type { BackendHandler } from '../chain/handler.ts'
import { endEndpoint } from '../backend/health.ts'
import { callSafely, failByDefect } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionLimits, RequestHandler } from '../http/handler.ts'
import type { StreamBody } from '../message/body.ts'
import { discardBody } from '../http/body-writer.ts'
import type { HttpRequest } from '../message/message.ts'
import { BodyCopies } from '../log/body-copies.ts'
import type { RefusalPlace } from '../log/access-log.ts'
import type { CredentialNames } from '../log/credential-names.ts'
import type { DelegatedRoute, LazyRoute, ListenerPlan, RoutePlan } from '../chain/plan.ts'
import { prepareReplay } from '../policy/resilience/replay.ts'
import { runChain } from '../chain/run-chain.ts'
import type { RouterResult } from '../route/router.ts'
import type { TraceTap } from '../trace/tap.ts'
import { Flow, flowOf } from './flow.ts'
import type { ExchangeObserver } from './observer.ts'
import { endTryWithCredential, keepTry } from './refused-credential.ts'

export interface PipelineInput {
  readonly limits: ConnectionLimits
  readonly admits?: RequestHandler['admits']
  readonly proxyProtocol?: RequestHandler['proxyProtocol']
  readonly observer: ExchangeObserver
  /** The places of credentials in requests; requested after the first request with a query. */
  readonly credentialNames: () => CredentialNames
  /** undefined: tracing is not available. */
  readonly tap?: TraceTap | undefined
  /** For requests that are rejected before a listener is found. */
  readonly place?: RefusalPlace | undefined
  readonly findListener: (host: string) => ListenerPlan | undefined
}

export function pipeline(input: PipelineInput): RequestHandler {
  const { limits, admits, proxyProtocol, observer, credentialNames, tap, place, findListener } = input
  return {
    limits,
    admits,
    proxyProtocol,
    handle(exchange, respond) {
      if (tap?.isArmed === true) tap.offer(exchange, limits.bufferBytesMax)
      const listener = findListener(exchange.request.host)
      if (listener === undefined) {
        exchange.fail('listenerNotFound')
        exchange.trace?.listenerMissed(exchange, undefined)
        exchange.trace?.finalResponse(exchange)
        respond(exchange)
        return
      }
      exchange.place = listener.place
      exchange.failureBody = listener.failureBody
      exchange.flow = new Flow(respond, listener, limits.bufferBytesMax)
      if (listener.recordsBodies !== undefined) recordRequest(exchange, listener.recordsBodies, limits.bufferBytesMax)
      listener.beginSpan?.(exchange)
      if (exchange.trace !== undefined) exchange.trace.listenerFound(listener)
      start(exchange, listener)
    },
    finished(exchange, isComplete) {
      endEndpoint(exchange, isComplete)
      exchange.deadline?.settle()
      exchange.bodies?.over()
      if (exchange.picked !== undefined) exchange.picked.close()
      finishPolicies(exchange)
      if (exchange.request.query !== '') hideCredentials(exchange.request, credentialNames())
      observer.finished(exchange, isComplete, flowOf(exchange)?.listener)
      if (exchange.trace !== undefined) exchange.trace.finished(exchange, isComplete)
    },
    transferred: (bytes) => observer.transferred(bytes),
    refused: (info) => observer.refused({ ...info, place }),
  }
}

function start(exchange: Exchange, listener: ListenerPlan): void {
  if (exchange.request.method === 'CONNECT' && !mayConnect(exchange, listener)) finishResponse(exchange)
  else if (listener.chain.readsRequestBody) bufferRequest(exchange, runPreRouting)
  else if (listener.chain.request.length === 0) selectRoute(exchange)
  else runPreRouting(exchange)
}

/** False: the exchange has its response. */
function mayConnect(exchange: Exchange, { routesConnect }: ListenerPlan): boolean {
  const { connection, request } = exchange
  // The bytes after a rejected CONNECT are not requests, even if they look like requests.
  if (request.version !== 'HTTP/2') connection.close()
  if (routesConnect !== true) exchange.fail('methodNotAllowed')
  else if (request.body !== undefined) exchange.fail('invalidRequest', 'CONNECT with a body')
  return exchange.response === undefined
}

function runPreRouting(exchange: Exchange): void {
  runChain(flowOf(exchange)?.listener.chain.request ?? [], exchange, 0, selectRoute)
}

function selectRoute(exchange: Exchange): void {
  const flow = flowOf(exchange)
  if (flow === undefined || exchange.response !== undefined) {
    finishResponse(exchange)
    return
  }
  const misplaced = flow.listener.misplaced?.(exchange.request.host)
  if (misplaced !== undefined) {
    exchange.fail(misplaced)
    exchange.trace?.listenerMissed(exchange, flow.listener)
    finishResponse(exchange)
    return
  }
  const matched = flow.listener.router.find(exchange.request)
  const found = matched === undefined ? NO_ROUTE : routeInTheEnd(exchange.request, matched)
  if ('failure' in found) {
    tellRoute(exchange, flow.listener, { matched, selected: undefined })
    exchange.fail(found.failure)
    finishResponse(exchange)
    return
  }
  if (exchange.trace !== undefined || exchange.span !== undefined)
    tellRoute(exchange, flow.listener, { matched, selected: found.value })
  const plan = planOf(exchange, found.value)
  if (plan === undefined) {
    finishResponse(exchange)
    return
  }
  flow.route = plan
  exchange.matchedPrefix = found.matchedPrefix
  enterRoute(exchange, plan)
}

/** Compiled for the first request. undefined: the compilation failed, and the exchange has its response. */
function planOf(exchange: Exchange, route: LazyRoute): RoutePlan | undefined {
  try {
    return route.plan
  } catch (error) {
    failByDefect(exchange, `route ${route.key}`, error)
    return undefined
  }
}

function enterRoute(exchange: Exchange, plan: RoutePlan): void {
  exchange.place = plan.place
  exchange.failureBody = plan.failureBody
  for (const selected of plan.chain.selected) {
    try {
      selected(exchange)
    } catch (error) {
      failByDefect(exchange, 'route', error)
      finishResponse(exchange)
      return
    }
  }
  if (plan.chain.readsRequestBody) bufferRequest(exchange, runPostRouting)
  else if (plan.chain.request.length === 0) selectBackend(exchange)
  else runPostRouting(exchange)
}

function tellRoute(
  exchange: Exchange,
  listener: ListenerPlan,
  { matched, selected }: { matched: RouterResult<LazyRoute> | undefined; selected: LazyRoute | undefined },
): void {
  const { trace, span, request } = exchange
  if (trace !== undefined) {
    const stopsAt = selected === undefined ? undefined : matched?.value
    const evaluated = listener.router.evaluated(request, stopsAt).map(({ key }) => key)
    trace.routeSelected(exchange, evaluated, selected)
  }
  if (span !== undefined && selected !== undefined) span.matchLabel = matched?.matchLabel
}

/** Also for a body whose announced length is too large. */
const KEEPS_PREFIX = { keepsPrefix: true }

const NO_ROUTE = { failure: 'routeNotFound' } as const

function routeInTheEnd(request: HttpRequest, matched: RouterResult<LazyRoute>): DelegatedRoute {
  const { delegate } = matched.value
  return delegate === undefined ? matched : delegate(request, matched.matchedPrefix)
}

function runPostRouting(exchange: Exchange): void {
  runChain(flowOf(exchange)?.route?.chain.request ?? [], exchange, 0, selectBackend)
}

function selectBackend(exchange: Exchange): void {
  const flow = flowOf(exchange)
  const route = flow?.route
  if (flow === undefined || route === undefined || exchange.response !== undefined) {
    finishResponse(exchange)
    return
  }
  const backend = route.pickBackend()
  if (backend === undefined) {
    exchange.fail('noValidBackends')
    finishResponse(exchange)
    return
  }
  flow.backend = backend
  exchange.backendName = backend.name
  exchange.backendProtocol = backend.protocol
  exchange.backendType = backend.type
  if (exchange.trace !== undefined) exchange.trace.backendSelected(exchange, backend, route.backends ?? [])
  if (backend.mirror !== undefined && exchange.request.method !== 'CONNECT') backend.mirror(exchange)
  const { retry } = exchange
  if (retry === undefined) enterBackend(exchange)
  else prepareReplay(exchange, retry, { go: enterBackend, fail: finishResponse })
}

/** The backend phase: once for each try. */
function enterBackend(exchange: Exchange): void {
  if (flowOf(exchange)?.backend?.fetched === undefined) applyBackend(exchange)
  else keepTry(exchange, { go: applyBackend, fail: finishResponse })
}

function applyBackend(exchange: Exchange): void {
  const backend = flowOf(exchange)?.backend
  if (backend?.readsRequestBody === true) bufferRequest(exchange, runBackendFilters)
  else if (backend?.request.length === 0) callBackend(exchange)
  else runBackendFilters(exchange)
}

function runBackendFilters(exchange: Exchange): void {
  runChain(flowOf(exchange)?.backend?.request ?? [], exchange, 0, callBackend)
}

function callBackend(exchange: Exchange): void {
  const backend = flowOf(exchange)?.backend
  if (backend === undefined || exchange.response !== undefined) {
    finishResponse(exchange)
    return
  }
  const handler = exchange.request.method === 'CONNECT' ? backend.tunnel : backend.handler
  if (exchange.trace === undefined && exchange.span === undefined) handler(exchange, finishBackend)
  else callObserved(exchange, handler)
}

function callObserved(exchange: Exchange, handler: BackendHandler): void {
  const done = exchange.span === undefined ? finishBackend : exchange.span.callBackend(exchange, finishBackend)
  if (exchange.trace === undefined) handler(exchange, done)
  else exchange.trace.callBackend(exchange, handler, done)
}

function finishBackend(exchange: Exchange): void {
  if (exchange.credential === undefined) endBackend(exchange)
  else endTryWithCredential(exchange, { again: enterBackend, end: endBackend, left: finishAnswer })
}

function endBackend(exchange: Exchange): void {
  const { replay } = exchange
  if (replay === undefined) finishAnswer(exchange)
  else if (replay.readsResponseBody) bufferResponse(exchange, finishTry)
  else finishTry(exchange)
}

function finishTry(exchange: Exchange): void {
  exchange.replay?.ended(exchange, { again: enterBackend, finish: finishAnswer })
}

function finishAnswer(exchange: Exchange): void {
  const { response } = exchange
  if (response?.isLocal === false) exchange.upstreamStatus = response.status
  finishResponse(exchange)
}

function finishResponse(exchange: Exchange): void {
  const flow = flowOf(exchange)
  const response = (flow?.backend ?? flow?.route ?? flow?.listener)?.response
  if (response === undefined) sendResponse(exchange)
  else if (response.readsBody) bufferResponse(exchange, runResponseFilters)
  else if (response.filters.length === 0) sendResponse(exchange)
  else runResponseFilters(exchange)
}

function runResponseFilters(exchange: Exchange): void {
  const flow = flowOf(exchange)
  const plan = flow?.backend ?? flow?.route ?? flow?.listener
  runChain(plan?.response.filters ?? [], exchange, 0, sendResponse)
}

function sendResponse(exchange: Exchange): void {
  if (exchange.response === undefined) exchange.fail('internal', 'no response was created')
  if (exchange.deadline?.hasPassed === true) tooLate(exchange)
  mergeQueuedHeaders(exchange)
  const flow = flowOf(exchange)
  if (flow?.listener.recordsBodies?.response === true) recordResponse(exchange, flow)
  if (exchange.trace !== undefined) exchange.trace.finalResponse(exchange)
  flow?.respond(exchange)
}

/** The source of the response did not notice the deadline. */
function tooLate(exchange: Exchange): void {
  if (exchange.failure === 'requestTimeout') return
  discardBody(exchange.response?.body)
  exchange.fail('requestTimeout')
}

/**
 * Reads the body for expressions. A body over the limit is not rejected: it is streamed, and expressions that read it
 * fail (data-plane supplement section 2.2), which security policies treat as a denial.
 */
function bufferRequest(exchange: Exchange, next: (exchange: Exchange) => void): void {
  const { body } = exchange.request
  if (body === undefined || Buffer.isBuffer(body)) {
    next(exchange)
    return
  }
  body.tryCollect(exchange.flow?.bodyBytesMax ?? 0, KEEPS_PREFIX).then(
    (whole) => {
      if (whole !== undefined) exchange.request.body = whole
      else (exchange.bodies ??= new BodyCopies()).request = prefixOf(body, exchange)
      next(exchange)
    },
    (error: unknown) => {
      exchange.fail('invalidRequest', String(error))
      finishResponse(exchange)
    },
  )
}

function bufferResponse(exchange: Exchange, next: (exchange: Exchange) => void): void {
  const body = exchange.response?.body
  if (body === undefined || typeof body === 'string' || !('tryCollect' in body)) {
    next(exchange)
    return
  }
  body.tryCollect(exchange.flow?.bodyBytesMax ?? 0, KEEPS_PREFIX).then(
    (whole) => {
      if (whole === undefined) (exchange.bodies ??= new BodyCopies()).response = prefixOf(body, exchange)
      else if (exchange.response !== undefined) exchange.response.body = whole
      next(exchange)
    },
    (error: unknown) => {
      exchange.fail('upstreamFailure', String(error))
      next(exchange)
    },
  )
}

/** The part of a body over the limit that expressions see. */
function prefixOf(body: StreamBody, { flow }: Exchange): Buffer | undefined {
  return body.peek?.(flow?.bodyBytesMax ?? 0)
}

function recordRequest(exchange: Exchange, sides: { readonly request: boolean }, bytesMax: number): void {
  exchange.bodies = new BodyCopies()
  // The recording of a body does not replace the body of the client.
  if (sides.request) exchange.bodies.record('request', exchange.request.body, bytesMax)
}

function recordResponse({ bodies, response }: Exchange, { bodyBytesMax }: Flow): void {
  if (bodies === undefined || response === undefined) return
  response.body = bodies.record('response', response.body, bodyBytesMax)
}

function mergeQueuedHeaders(exchange: Exchange): void {
  const queued = exchange.queuedResponseHeaders
  if (queued === undefined || exchange.response === undefined) return
  const { headers } = exchange.response
  for (let i = 0; i < queued.length; i += 2) headers.remove(queued[i] ?? '')
  for (let i = 0; i < queued.length; i += 2) headers.append(queued[i] ?? '', queued[i + 1] ?? '')
}

/** Also the bodies that no policy has read. For logs, metrics and spans, which follow. */
function hideCredentials(request: HttpRequest, names: CredentialNames): void {
  request.loggedQuery = names.hideIn(request.loggedQuery ?? request.query)
}

/** Policies that act at the end, such as token limits. */
function finishPolicies(exchange: Exchange): void {
  const flow = flowOf(exchange)
  if (flow === undefined) return
  for (const finished of flow.listener.chain.finished) callSafely('end of request', finished, exchange)
  if (flow.route === undefined) return
  for (const finished of flow.route.chain.finished) callSafely('end of request', finished, exchange)
}
