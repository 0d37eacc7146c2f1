// The parts of a worker. worker.ts names the real parts; tests use others.
import type { Steps } from '#api/incremental/steps.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { CompiledBind, CompileSteps } from '../config/compiled.ts'
import type net from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { IdleConnection, ListenOptions } from '../http/server.ts'
import type { RateLimitBuffer } from '../policy/limits/rate-limit-store.ts'
import type { RateLimitStore } from '../chain/rate-limits.ts'
import type { HboneClient } from '../mesh/hbone-client.ts'
import type { GrpcClient } from '../grpc/client.ts'
import type { ConnectionObserver } from '../metrics/tcp-observer.ts'
import type { ConnectObserver } from '../upstream/connect-observer.ts'
import type { TicketSecrets } from '../tls/ticket-secrets.ts'
import type { DynamicForwarding } from '../upstream/dynamic.ts'
import type { ListenerConnections } from '../trace/messages.ts'
import type { HttpUpstreamClient } from '../upstream/client.ts'

/** The open port of one bind. */
export interface BindServer {
  listen(options: ListenOptions): Promise<unknown>
  /**
   * From the next request on, running ones finish with the old one; connections whose bytes are passed on stay as they
   * are. The protocol of the bind is the same: `layer4?.kind` of the one it was made for.
   */
  apply(bind: CompiledBind): void
  /** Asks clients to leave: connections end after their next response, idle ones a little later. */
  letGo(): void
  /** Serves a connection that was not accepted here: one that came through a tunnel. */
  enter(socket: net.Socket, facts: ConnectionFacts): void
  stopAccepting(): void
  destroyAll(): void
  readonly openConnections: number
  readonly activeRequests: number
  /** Open connections of listeners that the handshake selects; absent: the port has one listener, or requests do. */
  listenerConnections?(): readonly ListenerConnections[]
  /** Requests under way, for `/debug/tasks`. */
  running?(): Iterable<Exchange>
  /** Connections that may be closed if there are too many; absent: unknown. */
  idle?(): Iterable<IdleConnection>
}

/** What servers of a worker share. */
export interface BindContext {
  readonly observer: ConnectionObserver
  /** For TLS sessions, the same in all workers; undefined: each worker makes its own. */
  readonly tickets: TicketSecrets | undefined
}

export interface WorkerParts {
  /** For each configuration before `compileSteps`; the result loads what it needs. Absent: all of it is there. */
  readonly partSteps?: (config: RenderedConfig) => Steps<() => Promise<void>>
  readonly compileSteps: CompileSteps
  readonly createServer: (bind: CompiledBind, context: BindContext) => BindServer
  readonly createClient: (connected: ConnectObserver) => HttpUpstreamClient
  /** Absent: dynamic forward proxies are not served. */
  readonly createDynamic?: (allowed: readonly string[], connected: ConnectObserver) => DynamicForwarding
  /** Absent: there are no tunnels to workloads of a mesh. */
  readonly createHbone?: ((connected: ConnectObserver) => HboneClient) | undefined
  readonly createGrpc: (connected: ConnectObserver) => GrpcClient
  readonly createRateLimits: (shared: RateLimitBuffer) => RateLimitStore
}
