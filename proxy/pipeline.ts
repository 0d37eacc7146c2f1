// The way of one request: listener, PreRouting chain, route, PostRouting chain, backend, response filters (data-plane
// supplement section 1.2). Runs compiled plans and nothing else; no promise unless a filter returns one.
import type { ExchangeObserver } from './config/compiled.ts'
import type { Exchange } from './exchange.ts'
import type { ConnectionLimits, RequestHandler } from './http/handler.ts'
import type { ListenerPlan } from './plan.ts'
import { runChain } from './policy/run-chain.ts'

export interface PipelineInput {
  readonly limits: ConnectionLimits
  readonly observer: ExchangeObserver
  readonly findListener: (host: string) => ListenerPlan | undefined
}

export function pipeline({ limits, observer, findListener }: PipelineInput): RequestHandler {
  return {
    limits,
    handle(exchange, respond) {
      const listener = findListener(exchange.request.host)
      if (listener === undefined) {
        exchange.fail('listenerNotFound')
        respond(exchange)
        return
      }
      exchange.place = listener.place
      exchange.flow = { respond, listener, bodyBytesMax: limits.bufferBytesMax, route: undefined, backend: undefined }
      start(exchange, listener)
    },
    finished(exchange, isComplete) {
      endEndpoint(exchange, isComplete)
      finishPolicies(exchange)
      observer.finished(exchange, isComplete, exchange.flow?.listener.accessLog)
    },
    refused: (info) => observer.refused(info),
  }
}

function start(exchange: Exchange, listener: ListenerPlan): void {
  if (exchange.request.method === 'CONNECT') {
    exchange.fail('methodNotAllowed')
    finishResponse(exchange)
  } else if (listener.chain.readsRequestBody) bufferRequest(exchange, runPreRouting)
  else if (listener.chain.request.length === 0) selectRoute(exchange)
  else runPreRouting(exchange)
}

function runPreRouting(exchange: Exchange): void {
  runChain(exchange.flow?.listener.chain.request ?? [], exchange, 0, selectRoute)
}

function selectRoute(exchange: Exchange): void {
  const { flow } = exchange
  if (flow === undefined || exchange.response !== undefined) {
    finishResponse(exchange)
    return
  }
  const found = flow.listener.router.find(exchange.request)
  if (found === undefined) {
    exchange.fail('routeNotFound')
    finishResponse(exchange)
    return
  }
  const { plan } = found.value
  flow.route = plan
  exchange.place = plan.place
  exchange.matchedPrefix = found.matchedPrefix
  if (plan.chain.readsRequestBody) bufferRequest(exchange, runPostRouting)
  else if (plan.chain.request.length === 0) selectBackend(exchange)
  else runPostRouting(exchange)
}

function runPostRouting(exchange: Exchange): void {
  runChain(exchange.flow?.route?.chain.request ?? [], exchange, 0, selectBackend)
}

function selectBackend(exchange: Exchange): void {
  const route = exchange.flow?.route
  if (exchange.flow === undefined || route === undefined || exchange.response !== undefined) {
    finishResponse(exchange)
    return
  }
  const backend = route.pickBackend()
  if (backend === undefined) {
    exchange.fail('noValidBackends')
    finishResponse(exchange)
    return
  }
  exchange.flow.backend = backend
  exchange.backendName = backend.name
  exchange.backendProtocol = backend.protocol
  if (backend.readsRequestBody) bufferRequest(exchange, runBackendFilters)
  else if (backend.request.length === 0) callBackend(exchange)
  else runBackendFilters(exchange)
}

function runBackendFilters(exchange: Exchange): void {
  runChain(exchange.flow?.backend?.request ?? [], exchange, 0, callBackend)
}

function callBackend(exchange: Exchange): void {
  const backend = exchange.flow?.backend
  if (backend === undefined || exchange.response !== undefined) finishResponse(exchange)
  else backend.handler(exchange, finishResponse)
}

function finishResponse(exchange: Exchange): void {
  const { flow } = exchange
  const response = (flow?.backend ?? flow?.route ?? flow?.listener)?.response
  if (response === undefined || response.filters.length === 0) sendResponse(exchange)
  else if (response.readsBody) bufferResponse(exchange, runResponseFilters)
  else runResponseFilters(exchange)
}

function runResponseFilters(exchange: Exchange): void {
  const { flow } = exchange
  const plan = flow?.backend ?? flow?.route ?? flow?.listener
  runChain(plan?.response.filters ?? [], exchange, 0, sendResponse)
}

function sendResponse(exchange: Exchange): void {
  if (exchange.response === undefined) exchange.fail('internal', 'no response was made')
  mergeQueuedHeaders(exchange)
  exchange.flow?.respond(exchange)
}

/**
 * Reads the body for expressions. A body over the limit is not refused: it streams on, and expressions that read it fail
 * (data-plane supplement section 2.2), which security policies treat as a denial.
 */
function bufferRequest(exchange: Exchange, next: (exchange: Exchange) => void): void {
  const { body } = exchange.request
  if (body === undefined || Buffer.isBuffer(body)) {
    next(exchange)
    return
  }
  body.tryCollect(exchange.flow?.bodyBytesMax ?? 0).then(
    (whole) => {
      if (whole !== undefined) exchange.request.body = whole
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
  body.tryCollect(exchange.flow?.bodyBytesMax ?? 0).then(
    (whole) => {
      if (whole !== undefined && exchange.response !== undefined) exchange.response.body = whole
      next(exchange)
    },
    (error: unknown) => {
      exchange.fail('upstreamFailure', String(error))
      next(exchange)
    },
  )
}

function mergeQueuedHeaders(exchange: Exchange): void {
  const queued = exchange.queuedResponseHeaders
  if (queued === undefined || exchange.response === undefined) return
  const { headers } = exchange.response
  for (let i = 0; i < queued.length; i += 2) headers.remove(queued[i] ?? '')
  for (let i = 0; i < queued.length; i += 2) headers.append(queued[i] ?? '', queued[i + 1] ?? '')
}

/** Policies that settle something when all is over, as token limits do. */
function finishPolicies(exchange: Exchange): void {
  const { flow } = exchange
  if (flow === undefined) return
  for (const finished of flow.listener.chain.finished) finished(exchange)
  if (flow.route !== undefined) for (const finished of flow.route.chain.finished) finished(exchange)
}

/** Default health: no response, 5xx or a gRPC status other than 0 counts against the endpoint. */
function endEndpoint(exchange: Exchange, isComplete: boolean): void {
  const { usedEndpoint, response } = exchange
  if (usedEndpoint === undefined) return
  exchange.usedEndpoint = undefined
  const grpcStatus = response?.headers.get('grpc-status')
  const isHealthy =
    isComplete && response !== undefined && response.status < 500 && (grpcStatus === undefined || grpcStatus === '0')
  usedEndpoint.end(performance.now() - exchange.startMs, isHealthy)
}
