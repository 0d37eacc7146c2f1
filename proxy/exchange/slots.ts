// The data of features on an exchange: for each feature a small interface with the members that other folders use. The
// features implement it. `E` is the exchange, which this file does not import.
import type { CelExpression } from '#api/cel/expression.ts'
import type { OutgoingBody } from '../message/body.ts'
import type { HttpRequest, HttpResponse } from '../message/message.ts'
import type { FailureCode } from './errors.ts'

/** The current step of the pipeline for a request; see pipeline/flow.ts. */
export interface FlowState {
  readonly bodyBytesMax: number
  /** Of expressions of the listener. */
  readonly textReads?: TextReads | undefined
}

/** Whether expressions read texts of LLM requests (`llm.prompt`) and of answers (`llm.completion`, `llm.toolCalls`). */
export interface TextReads {
  readonly request: boolean
  readonly response: boolean
}

/** Ends a call before its response head: calls `done` at once with this failure. */
export interface UpstreamCallHandle {
  abort(code: FailureCode): void
}

/** Enforces the deadline of the request where no code waits; see policy/resilience/request-deadline.ts. */
export interface DeadlineKeeper {
  /** The deadline passed before a response: any later response is dropped. */
  readonly hasPassed: boolean
  /** The request and its response have ended. */
  settle(): void
}

/** A limit on the tokens of LLM requests, which let this one pass; see policy/limits/. */
export interface TokenLimit<E> {
  /**
   * Charges the tokens of the prompt before the call; at most once for a request. A response: too few are left. At the
   * end of the request, the limit is charged the difference to the tokens of the call.
   */
  chargePrompt(exchange: E, tokens: number): HttpResponse | undefined | Promise<HttpResponse | undefined>
}

/** A compiled retry policy; see policy/resilience/retry.ts. */
export interface RetryRule {
  /** Number of remaining retries. */
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
  /** One try has its response: sends the request again, or finishes with this response. */
  ended(exchange: E, next: { readonly again: (exchange: E) => void; readonly finish: (exchange: E) => void }): void
}

/** A fetched credential that a try sends; see backend/auth/sent-token.ts. */
export interface SentCredential {
  /**
   * The backend answered. Drops the credential if the backend refused it. True: a next try gets another one.
   */
  renew(answer: Pick<HttpResponse, 'status' | 'headers'>): boolean
}

/** Live counters of an endpoint, shared by all workers; see backend/endpoint-store.ts. */
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
  /** Of the eviction that has just begun, for people who look. */
  noteEviction(cause: EvictionCause): void
}

/** See backend/eviction-cause.ts. */
export interface EvictionCause {
  /** The condition of the policy that was true. `failure`: any failed request evicts. */
  readonly rule: 'failure' | 'consecutiveFailures' | 'healthThreshold'
  /** In a row, the last one included. */
  readonly failures: number
  /** What the last failed request got. */
  readonly outcome: 'noResponse' | 'status' | 'grpcStatus'
  /** Of the last failed request; 0: it got no response. */
  readonly status: number
}

/** The endpoint that counts the exchange; see backend/health.ts. */
export interface UsedEndpoint {
  readonly state: EndpointRecord
}

/** A compiled health policy; see backend/health.ts. */
export interface HealthRule {
  readonly condition: CelExpression | undefined
  readonly readsResponseBody: boolean
  /** An `eviction` block always has a duration. */
  readonly hasEviction: boolean
  readonly durationMs: number | undefined
  /** 0–1. */
  readonly restoreHealth: number | undefined
  readonly consecutiveFailures: number | undefined
  /** 0–1. */
  readonly healthThreshold: number | undefined
}

/** The candidates. */
export interface LabelledEndpoints<T> {
  /** undefined: no endpoint. */
  pick(): T | undefined
  /** The endpoint with this label; undefined if it was removed. */
  find(label: string): T | undefined
}

/** Endpoints that an endpoint picker selected; see backend/picked-endpoints.ts. */
export interface PickedPlaces {
  /** Label of the endpoint that was used. */
  readonly selected: string | undefined
  choose<T extends { readonly label: string }>(endpoints: LabelledEndpoints<T>): T | undefined
  /** The request has ended. */
  close(): void
}

/** Whether the current Deny rule has read the body; see cel/deny-guard.ts. */
export interface DenyGuard {
  hasReadBody: boolean
}

/** Copies of the start of bodies; see log/body-copies.ts. */
export interface RecordedBodies {
  request: Buffer | undefined
  response: Buffer | undefined
  /** Copies the body while it is forwarded. @returns the body to use in its place. */
  record(side: 'request' | 'response', body: OutgoingBody, bytesMax: number): OutgoingBody
  /** No bytes follow. */
  over(): void
}

/** A failure for a client that expects errors in the format of its API. */
export interface FailureText {
  readonly status: number
  readonly text: string
  /** See `FailureKind`. */
  readonly apiCode: string | undefined
}

/** The JSON body of a failure of this request; undefined: text. See llm/failure-body.ts. */
export type FailureBody = (failure: FailureText, request: HttpRequest) => string | undefined

/** The parsed part of the body of an LLM request; see llm/request-json.ts. */
export interface ParsedBody {
  /** Whether it is the current body of the request. */
  isOf(request: HttpRequest): boolean
}

/** How the client addressed a request whose response may be an agent's card; see a2a/agent-card.ts. */
export interface CardRequest {
  /** `scheme://host` of the gateway. */
  readonly origin: string
  /** Of the gateway. */
  readonly path: string
}
