// The compiled form of connections with forwarded bytes: TCP listeners, and TLS listeners without HTTP.
import type { Endpoint, EndpointPicker } from '../backend/handler.ts'
import type { HealthRule } from '../exchange/slots.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { AccessLogRule } from '../log/access-log.ts'
import type { MetricLabels } from '../metrics/metric-labels.ts'

export interface TcpBindPlan {
  readonly kind: 'TCP'
  readonly tcp: TcpPlan
}

export interface TcpPlan {
  readonly place: ExchangePlace
  readonly accessLog: AccessLogRule | undefined
  /** `frontend.metrics` */
  readonly metricLabels: MetricLabels | undefined
  /**
   * False: the connection is closed without a byte (`frontend.networkAuthorization`, or a policy that cannot be
   * enforced).
   */
  readonly admits: (facts: ConnectionFacts) => boolean
  /** `serverName`: undefined for TCP listeners and clients that sent no name. */
  readonly route: (serverName: string | undefined) => TcpRoutePlan | undefined
}

export interface TcpRoutePlan {
  readonly place: ExchangePlace
  /** undefined: no backend, or all weights are 0. */
  readonly pickBackend: () => TcpBackendPlan | undefined
}

export interface TcpBackendPlan {
  /** CEL `backend.name`. */
  readonly name: string
  readonly target:
    | { readonly kind: 'Endpoints'; readonly picker: EndpointPicker; readonly health: HealthRule | undefined }
    /** undefined: the client named no destination. */
    | { readonly kind: 'Dynamic'; readonly pick: (facts: ConnectionFacts) => Endpoint | undefined }
    | { readonly kind: 'Broken'; readonly code: FailureCode; readonly detail: string }
}
