// One call of a service that policies use: load and health of the endpoints that it goes to.
import type { Exchange } from '../exchange/exchange.ts'
import type { CallSubtype } from '../exchange/request-span.ts'
import type { EndpointRecord, HealthRule } from '../exchange/slots.ts'
import type { GrpcClient } from '../grpc/client.ts'
import { GrpcError, GrpcStatus } from '../grpc/status.ts'
import { type HttpRequest, HttpResponse } from '../message/message.ts'
import type { NamedFilter } from '../chain/filter.ts'
import type { Outbound } from '../exchange/outbound.ts'
import type { Endpoint } from './handler.ts'
import type { UpstreamClient, UpstreamTarget } from '../upstream/target.ts'
import { OwnCallEndpoints } from './failover.ts'
import { chargeAnswer, chargeFailure } from './health.ts'

/** What a call needs of an endpoint. */
export type ServiceEndpoint = Pick<Endpoint, 'target' | 'authority' | 'state'>

export interface ServiceParts {
  /** undefined: no endpoint is ready, or no other. */
  readonly picker: {
    pick(): ServiceEndpoint | undefined
    other(tried: readonly EndpointRecord[]): ServiceEndpoint | undefined
  }
  /** Request filters of the service's own backend policies. */
  readonly filters: readonly NamedFilter[]
  /** undefined: only scores change. */
  readonly health?: HealthRule | undefined
  readonly client: UpstreamClient
  readonly grpc: GrpcClient
  /** undefined: SERVICE_TIMEOUT_MS. */
  readonly timeoutMs: number | undefined
  /** The purpose of the call, for metrics and traces; undefined: the call belongs to no request. */
  readonly subtype?: CallSubtype | undefined
  /** Counts each call. */
  readonly called?: ((subtype: CallSubtype, durationMs: number) => void) | undefined
}

/** Responses of a working endpoint. */
const BLAMELESS: ReadonlySet<number> = new Set([GrpcStatus.PERMISSION_DENIED])

export interface ChargedParts {
  readonly exchange: Exchange
  readonly request: HttpRequest
  readonly endpoint: ServiceEndpoint
  readonly parts: ServiceParts
  readonly observed: Outbound | undefined
  readonly deadlineMs: number
  /** Continues after the client has disconnected. */
  readonly isDetached?: boolean
}

/** Charges the current endpoint of the call; moves to another one while no endpoint has received it. */
export class Charged {
  readonly parts: ServiceParts
  readonly observed: Outbound | undefined
  readonly startMs = performance.now()
  /** At this endpoint. */
  begunMs = this.startMs
  readonly #call: ChargedParts
  readonly #endpoints: OwnCallEndpoints<ServiceEndpoint>

  constructor(call: ChargedParts) {
    const { exchange, endpoint, parts, deadlineMs } = call
    this.parts = parts
    this.observed = call.observed
    this.#call = call
    const other = (failed: readonly EndpointRecord[]): ServiceEndpoint | undefined => parts.picker.other(failed)
    this.#endpoints = new OwnCallEndpoints(endpoint, { exchange, other, deadlineMs })
  }

  get endpoint(): ServiceEndpoint {
    return this.#endpoints.current
  }

  begin(): void {
    this.begunMs = performance.now()
    this.endpoint.state.begin()
  }

  /** After a failure: the next target; undefined: the failure stands. */
  move(error: unknown): UpstreamTarget | undefined {
    const { state } = this.endpoint
    const next = this.#endpoints.next(error)
    if (next === undefined) return undefined
    chargeFailure(state, this.parts.health)
    this.begin()
    return next.target
  }

  async reach<T>(send: (target: UpstreamTarget) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await send(this.endpoint.target)
      } catch (error) {
        if (this.move(error) === undefined) throw error
      }
    }
  }

  /** `outcome`: the response, or why the service gave no response. */
  settle(outcome: unknown, latencyMs = performance.now() - this.begunMs): void {
    const { exchange, request, isDetached } = this.#call
    const { state } = this.endpoint
    const { health } = this.parts
    const isBlameless = outcome instanceof GrpcError && BLAMELESS.has(outcome.status)
    if (outcome instanceof HttpResponse) {
      chargeAnswer(state, health, { exchange, request, response: outcome, latencyMs })
    } else if (isBlameless) state.succeeded(latencyMs)
    else if (isOurs(outcome) || (isDetached !== true && exchange.connection.signal.aborted)) state.release()
    else chargeFailure(state, health, outcome instanceof GrpcError ? { grpcStatus: outcome.status } : {})
  }
}

/** Ended by the caller, with no effect on the endpoint. */
function isOurs(outcome: unknown): boolean {
  return outcome instanceof GrpcError && outcome.status === GrpcStatus.CANCELLED
}
