// The compiled form of listener, route and backend with their merged policies. Data and closures only;
// config/compile.ts creates them, pipeline.ts runs them.
import type { BackendHandler } from './handler.ts'
import type { Weighted } from './weighted.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { FailureBody, TextReads } from '../exchange/slots.ts'
import type { HttpRequest } from '../message/message.ts'
import type { AccessLogRule } from '../log/access-log.ts'
import type { MetricLabels } from '../metrics/metric-labels.ts'
import type { CompiledChain, FetchedCredential, NamedFilter } from './filter.ts'
import type { Router } from '../route/router.ts'

/** Response filters of all parts of an exchange, in their common order. */
export interface ResponsePlan {
  readonly filters: readonly NamedFilter[]
  readonly readsBody: boolean
}

export interface ListenerPlan {
  readonly place: ExchangePlace
  /** TLS: why a host does not belong to the listener that the handshake selected; undefined: it does. */
  readonly misplaced?: ((host: string) => 'misdirectedRequest' | 'listenerNotFound' | undefined) | undefined
  /** PreRouting; empty for most listeners. */
  readonly chain: CompiledChain
  readonly response: ResponsePlan
  readonly router: Router<LazyRoute>
  /** The form of failures before a route is selected; undefined: text. */
  readonly failureBody?: FailureBody | undefined
  readonly accessLog: AccessLogRule | undefined
  /** `frontend.connect` with mode Route: CONNECT is routed. Otherwise it is rejected here. */
  readonly routesConnect?: boolean
  /** Starts the span of a sampled request; undefined: requests have no spans. */
  readonly beginSpan?: ((exchange: Exchange) => void) | undefined
  /** Expressions of its log, spans and metrics read bodies, which are copied for them during forwarding. */
  readonly recordsBodies?: { readonly request: boolean; readonly response: boolean } | undefined
  /** Of expressions of its policies, log, spans and metrics. */
  readonly textReads?: TextReads | undefined
  /** Labels of every metric of a request, besides its own. */
  readonly metricLabels?: MetricLabels | undefined
}

/** Compiled on first use: a configuration may have thousands of routes without requests. */
export interface LazyRoute {
  /** From the rendered configuration, for traces. */
  readonly key: string
  readonly plan: RoutePlan
  /** For rules that delegate requests to other routes: the final route. */
  readonly delegate?: ((request: HttpRequest, matchedPrefix: string | undefined) => DelegatedRoute) | undefined
}

export type DelegatedRoute =
  | { readonly value: LazyRoute; readonly matchedPrefix: string | undefined }
  | { readonly failure: FailureCode }

export interface RoutePlan {
  readonly place: ExchangePlace
  /** PostRouting. */
  readonly chain: CompiledChain
  /** For responses before a backend was selected: route and listener. */
  readonly response: ResponsePlan
  /** The form of failures before a backend is selected; undefined: text. */
  readonly failureBody?: FailureBody | undefined
  /** undefined: no backend, or all weights are 0. */
  readonly pickBackend: () => BackendPlan | undefined
  /** The candidates, for traces. */
  readonly backends?: readonly Weighted<BackendPlan>[] | undefined
}

export type BackendType = 'ai' | 'mcp' | 'static' | 'dynamic' | 'service' | 'unknown'

export interface BackendPlan {
  /** CEL `backend.name`. */
  readonly name: string
  /** CEL `backend.type`. */
  readonly type: BackendType
  readonly protocol: string
  /** Filters before the handler; empty for handlers that run them themselves. */
  readonly request: readonly NamedFilter[]
  readonly readsRequestBody: boolean
  /** Of the filters above. */
  readonly fetched?: FetchedCredential | undefined
  /** The merged policies of the filters, for traces. */
  readonly effective?: object | undefined
  /** Policies of the backend reference of the rule, for traces. */
  readonly inline?: object | undefined
  /** See `RoutePlan`. */
  readonly failureBody?: FailureBody | undefined
  /** Route, backend and listener. */
  readonly response: ResponsePlan
  readonly handler: BackendHandler
  /** For CONNECT: opens a raw connection. */
  readonly tunnel: BackendHandler
  /** Sends copies to the mirrors of route and backend. */
  readonly mirror: ((exchange: Exchange) => void) | undefined
}
