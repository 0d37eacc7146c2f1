// What an exchange holds of features that lie above it: of each the small part that others use through the exchange.
// The features implement it. `E` is the exchange, which this file does not import.
import type { CelExpression } from '#api/cel/expression.ts'
import type { OutgoingBody } from '../message/body.ts'
import type { HttpRequest } from '../message/message.ts'
import type { FailureCode } from './errors.ts'

/** Where the pipeline is with a request; see pipeline/flow.ts. */
export interface FlowState {
  readonly bodyBytesMax: number
}

/** Ends a call before its response head: `done` follows at once, with that failure. */
export interface UpstreamCallHandle {
  abort(code: FailureCode): void
}

/** Keeps the deadline of the request where nobody waits; see policy/resilience/request-deadline.ts. */
export interface DeadlineKeeper {
  /** Time was up before there was an answer: any that comes now is too late. */
  readonly hasPassed: boolean
  /** All is over. */
  settle(): void
}

/** A compiled retry policy; see policy/resilience/retry.ts. */
export interface RetryRule {
  /** How many times more. */
  readonly attempts: number
  readonly codes: ReadonlySet<number>
  /** undefined: at once. */
  readonly backoffMs: number | undefined
  readonly condition: CelExpression | undefined
  readonly readsResponseBody: boolean
}

/** A request that can be sent again; see policy/resilience/replay.ts. */
export interface ReplaySource<E> {
  readonly readsResponseBody: boolean
  /** One try has its answer: sends again, or finishes with it. */
  ended(exchange: E, next: { readonly again: (exchange: E) => void; readonly finish: (exchange: E) => void }): void
}

/** Live figures of an endpoint, which all workers share; see backend/endpoint-store.ts. */
export interface EndpointRecord {
  readonly isEvicted: boolean
  /** 0–1. */
  readonly health: number
  begin(): void
  release(): void
  succeeded(latencyMs: number): void
  /** The number of failures in a row. */
  failed(): number
  evict(baseMs: number, maxMs: number, restoreHealth: number | undefined): boolean
}

/** The endpoint an exchange is charged to; see backend/health.ts. */
export interface UsedEndpoint {
  readonly state: EndpointRecord
}

/** A compiled health policy; see backend/health.ts. */
export interface HealthRule {
  readonly condition: CelExpression | undefined
  readonly readsResponseBody: boolean
  /** With an `eviction` block there is always a duration. */
  readonly hasEviction: boolean
  readonly durationMs: number | undefined
  /** 0–1. */
  readonly restoreHealth: number | undefined
  readonly consecutiveFailures: number | undefined
  /** 0–1. */
  readonly healthThreshold: number | undefined
}

/** What can be chosen from. */
export interface LabelledEndpoints<T> {
  /** undefined: there is no endpoint. */
  pick(): T | undefined
  /** The endpoint of that label; undefined when it is gone. */
  find(label: string): T | undefined
}

/** Endpoints that an endpoint picker named; see backend/picked-endpoints.ts. */
export interface PickedPlaces {
  /** Label of the one that was taken. */
  readonly selected: string | undefined
  choose<T extends { readonly label: string }>(endpoints: LabelledEndpoints<T>): T | undefined
  /** The request is over. */
  close(): void
}

/** Whether the Deny rule that is being evaluated has read the body; see cel/deny-guard.ts. */
export interface DenyGuard {
  hasReadBody: boolean
}

/** Beginnings of bodies that went by; see log/body-copies.ts. */
export interface RecordedBodies {
  request: Buffer | undefined
  response: Buffer | undefined
  /** Copies while the body goes by. @returns the body to use in its place. */
  record(side: 'request' | 'response', body: OutgoingBody, bytesMax: number): OutgoingBody
  /** Nothing follows. */
  over(): void
}

/** What was read of the body of an LLM request; see llm/request-json.ts. */
export interface ParsedBody {
  /** Whether it is the body that the request has now. */
  isOf(request: HttpRequest): boolean
}

/** How the client addressed a request whose answer may be an agent's card; see a2a/agent-card.ts. */
export interface CardRequest {
  /** `scheme://host` of the gateway. */
  readonly origin: string
  /** Of the gateway. */
  readonly path: string
}
