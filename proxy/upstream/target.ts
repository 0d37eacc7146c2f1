// Where a request goes, and the two ways to send it. Implemented by client.ts (engine); used by backends.
import type net from 'node:net'
import type { Probes } from '#api/ir/keepalive.ts'
import type { KeyExchangeGroup } from '#api/ir/types.gen.ts'
import { type Detail, logOf } from '../exchange/diagnosis.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OutgoingBody, StreamBody } from '../message/body.ts'
import type { HeaderList } from '../message/headers.ts'
import type { RequestSigner } from '../message/request-signer.ts'
import type { NamedBy } from './backend-guard.ts'
import type { DnsCache } from './dns-cache.ts'

export interface UpstreamTls {
  readonly servername: string | undefined
  readonly caCertificates: string | undefined
  readonly insecureSkipVerify: 'All' | 'Hostname' | undefined
  readonly alpnProtocols: readonly string[] | undefined
  /** PEM; both or none. */
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
  /** The certificate must contain one of them; replaces the check of the host name. */
  readonly verifySubjectAltNames?: readonly string[] | undefined
  readonly keyExchangeGroups?: readonly KeyExchangeGroup[] | undefined
}

/** One address. `key` holds everything that makes connections differ; connections are pooled by it. */
export interface UpstreamTarget {
  readonly key: string
  readonly host: string
  readonly port: number
  readonly unixPath: string | undefined
  readonly tls: UpstreamTls | undefined
  /** undefined: chosen by the request, see http2/version.ts. */
  readonly httpVersion?: 'HTTP1' | 'HTTP2' | undefined
  /** The backend chooses in the handshake; the version above holds where it chooses nothing. */
  readonly negotiates?: boolean
  readonly connectTimeoutMs: number
  /** undefined: those of the specification. */
  readonly keepalive?: Probes | undefined
  /** undefined: the destination is the configuration's, not a client's. */
  readonly guard?: TargetGuard | undefined
  /** Who says that it leads there. Part of `key`, for connections are kept by that. */
  readonly namedBy?: NamedBy
  /** A proxy on the way. */
  readonly tunnel?: UpstreamTunnel | undefined
}

/** For destinations that clients choose. */
export interface TargetGuard {
  readonly dns: DnsCache
  readonly admits: (address: string) => boolean
}

/** A proxy between the gateway and a backend; see tunnel.ts. */
export interface UpstreamTunnel {
  /** Everything that makes connections through it differ. */
  readonly key: string
  readonly way: TunnelWay
}

export type TunnelWay =
  /** Tunnels that are opened in another way than by CONNECT of HTTP/1.1; the outcome leads to the backend. */
  | { readonly open: (target: UpstreamTarget, done: (outcome: TunnelOutcome) => void) => OpeningTunnel }
  /** Calls fail: without the proxy traffic would leave by a way that its owner closed. */
  | { readonly problem: string }
  | {
      /** undefined: no proxy is ready. */
      readonly pick: () => TunnelProxy | undefined
      /** Name, value, …: credentials of the proxy. */
      readonly headers: readonly string[]
    }

export type TunnelOutcome = { readonly socket: net.Socket } | { readonly code: TunnelFailure; readonly detail: Detail }
export type TunnelFailure = 'dnsFailure' | 'destinationDenied' | 'addressDenied' | 'upstreamFailure' | 'upstreamTimeout'

export interface OpeningTunnel {
  /** No outcome follows. */
  abort(): void
}

/** One address of the proxy. */
export interface TunnelProxy {
  readonly target: UpstreamTarget
  /** After a failure: another address, none twice for one connection. undefined: none is left, or enough failed. */
  other(): TunnelProxy | undefined
  begin(): void
  /** `isHealthy` undefined: the outcome was not awaited. */
  end(latencyMs: number, isHealthy: boolean | undefined): void
}

export interface UpstreamRequest {
  readonly method: string
  readonly pathAndQuery: string
  /** Value of the Host header. */
  readonly authority: string
  /** Without host, hop-by-hop and framing fields: the client writes those. */
  readonly headers: HeaderList
  readonly body: OutgoingBody
  /** Signs it, when its body is not a stream; without a signature the call fails. */
  readonly signer?: RequestSigner | undefined
}

export interface UpstreamResponse {
  readonly status: number
  readonly headers: HeaderList
  /** Must be read to the end or cancelled; an end is needed for the connection to be used again. */
  readonly body: StreamBody
}

export interface SendOptions {
  readonly deadlineMs: number
  /** Absent: the body may come for any time. */
  readonly bodyDeadlineMs?: number | undefined
  readonly signal: AbortSignal | undefined
  /** The call ends when the client of this exchange leaves; costs less than `signal`. */
  readonly exchange?: Exchange
}

export type UpstreamFailureCode =
  | 'dnsFailure'
  | 'addressDenied'
  | 'upstreamFailure'
  | 'upstreamTimeout'
  | 'overloaded'
  | 'backendAuthFailed'

export class UpstreamError extends Error {
  readonly code: UpstreamFailureCode
  readonly detail: Detail
  /** Another endpoint may take the call: nothing was sent, or all of it may be sent again. */
  readonly isMovable: boolean
  constructor(code: UpstreamFailureCode, detail: Detail, isMovable = false) {
    super(logOf(detail))
    this.code = code
    this.detail = detail
    this.isMovable = isMovable
  }
}

export interface UpstreamClient {
  /**
   * Sends `exchange.request` as it is now and calls `done` once: with `exchange.response` set to the backend's (its
   * body still streaming), or to the failure from the registry. The hot path: no promise, no closure, bodies piped
   * socket to socket with backpressure. Honours `exchange.deadlineMs` and `backendRequestTimeoutMs`; aborts when the
   * client leaves.
   */
  forward(exchange: Exchange, target: UpstreamTarget, authority: string, done: (exchange: Exchange) => void): void
  /** CONNECT: opens a raw connection; success is a 200 whose body is a `Tunnel`. */
  tunnel(exchange: Exchange, target: UpstreamTarget, done: (exchange: Exchange) => void): void
  /**
   * One call with its own message, for LLM, MCP and auxiliary services. `signal` ends it for as long as its answer
   * arrives, `deadlineMs` until its head has, `bodyDeadlineMs` the body behind it.
   * @throws {UpstreamError}
   */
  send(target: UpstreamTarget, request: UpstreamRequest, options: SendOptions): Promise<UpstreamResponse>
  /** As `send`, without a promise. */
  call(target: UpstreamTarget, request: UpstreamRequest, options: SendOptions, outcome: CallOutcome): void
  close(): void
}

/** Gets one of both calls, once, which may be before `UpstreamClient.call` returns. Must not throw. */
export interface CallOutcome {
  /** The part of the body that has arrived is not copied yet: reading it during this call costs least. */
  answered(response: UpstreamResponse): void
  /** An `UpstreamError`, unless the signer of the request has a bug. */
  failed(error: unknown): void
}
