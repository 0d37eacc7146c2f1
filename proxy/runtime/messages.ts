// What main thread and workers say to each other. Plain data: everything crosses by structured clone.
// A configuration comes in two steps, so that workers never disagree: all prepare it, then all commit it. One that has
// no other worker takes both at once.
import type { MessagePort } from 'node:worker_threads'
import type { ConfigDelta } from '#api/ir/config-delta.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { LookupFamily } from '#api/units/lookup-family.ts'
import type { ModelCatalog } from '../llm/cost/catalog.ts'
import type { TokenTables } from '../llm/tokens/tables.ts'
import type { TraitsRow } from '../llm/traits/traits.ts'
import type { TokenMessage, TokenRefused, TokenReply } from '../credentials/shared-tokens.ts'
import type { CredentialMessage } from '../credentials/token-observer.ts'
import type { EndpointBuffer } from '../backend/endpoint-store.ts'
import type { Locality } from '../backend/locality.ts'
import type { OtlpEnvironment } from '../otlp/environment.ts'
import type { OverloadLimits } from '../overload/overload.ts'
import type { RateLimitBuffer } from '../policy/limits/rate-limit-store.ts'
import type { SharedTicketSecrets } from '../tls/ticket-secrets.ts'
import type { ConnectionDefaults } from '../upstream/connection-defaults.ts'
import type { BackendExceptions } from '../upstream/backend-guard.ts'
import type { InspectRequest } from '../trace/messages.ts'
import type { HboneLimits } from '../mesh/hbone-limits.ts'
import type { McpAccess } from '../mcp/access.ts'

export interface WorkerSettings {
  readonly workerId: number
  /** How many there are. */
  readonly workers: number
  /** Address listeners bind to: `::` (default), `127.0.0.1` in `gw run`. */
  readonly listenAddress: string
  /** False where the system cannot share a port between sockets: then there is one worker. */
  readonly reusePort: boolean
  readonly logFormat: 'text' | 'json'
  /** Env-filter directive in force. */
  readonly logLevel: string
  readonly accessLog: boolean
  /** Of 32 bytes each: the first seals MCP session ids, all open them. */
  readonly sessionKeys: readonly Uint8Array[]
  /** What backends may reach in spite of their guard; undefined: everything, there is no guard. */
  readonly backendAllow: BackendExceptions | undefined
  readonly mcpSessionTtlMs: number
  readonly mcpAccess: McpAccess
  /** Addresses and networks that dynamic forward proxies may reach in spite of the guard. */
  readonly dynamicForwardAllow: readonly string[]
  /** In front of the built-in traits of models. */
  readonly modelTraits: readonly TraitsRow[]
  /** Which addresses of host names are used. */
  readonly dnsLookupFamily: LookupFamily
  /** Where this proxy is, as far as its settings say. */
  readonly place: Locality
  readonly podName: string | undefined
  readonly podNamespace: string | undefined
  /** Port of tunnels to workloads of the mesh; undefined: the proxy is part of none. */
  readonly meshTunnelPort: number | undefined
  /** Limits of these tunnels. */
  readonly hbone: HboneLimits
  /** What connections to backends have without a policy, in the whole process. */
  readonly connections: ConnectionDefaults
  /** Secrets of TLS session tickets; undefined: the worker makes its own. */
  readonly tickets?: SharedTicketSecrets
  /** Counters and histograms of this worker, see metrics/buffer.ts. */
  readonly metricsBuffer: SharedArrayBuffer
  /** Log lines of this worker, see log/line-ring.ts. */
  readonly logRing: SharedArrayBuffer
  /** Turns of this worker's event loop, see pulse.ts. */
  readonly beats: SharedArrayBuffer
  readonly overload: OverloadLimits
  readonly bodyIdleTimeoutMs: number
  readonly otlp: OtlpEnvironment
}

export interface ConfigMessage {
  readonly type: 'config'
  readonly generation: number
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
  /** Token buckets shared by all workers. */
  readonly rateLimits: RateLimitBuffer
  /** Live state of endpoints, shared by all workers. */
  readonly endpoints: EndpointBuffer
}

/** Shared memory, and how its slots differ from those that were sent before; undefined: the key has none any more. */
export type SharedChange<B> = Omit<B, 'slots' | 'buffer'> & {
  /** undefined: as before. Each message would bring another object for the same memory. */
  readonly buffer: SharedArrayBuffer | undefined
  readonly slots: readonly (readonly [string, number | undefined])[]
}

/** To one worker: what differs from the last configuration that it was sent, the empty one before any. */
export type ConfigChange = Pick<ConfigMessage, 'type' | 'generation'> & {
  readonly delta: ConfigDelta
  readonly rateLimits: SharedChange<RateLimitBuffer>
  readonly endpoints: SharedChange<EndpointBuffer>
  /** Absent: as before. */
  readonly secrets: RenderedSecrets | undefined
  /** The items of a large change follow here, and its lists are empty; see sliced-change.ts. */
  readonly slices: MessagePort | undefined
}

/** What the core of a worker handles. */
export type CoreMessage =
  /**
   * Compile it and open its new ports; answer `rejected`, or `prepared`: then requests see nothing of it yet. With
   * `isCommitted` put it in force as well, and answer `applied`.
   */
  | (ConfigChange & { readonly isCommitted: boolean })
  /** Put the prepared generation in force; answer `applied`. */
  | { readonly type: 'commit'; readonly generation: number }
  /** Forget the prepared generation: another worker refused it. */
  | { readonly type: 'abort'; readonly generation: number }
  /** A newer one is there: stop compiling this one and answer `rejected`; without effect when it is compiled. */
  | { readonly type: 'supersede'; readonly generation: number }
  | { readonly type: 'drain'; readonly minMs: number; readonly maxMs: number }
  | { readonly type: 'logLevel'; readonly directive: string }
  | TokenReply
  | TokenRefused
  /** A question about the thread itself; answered on the port. */
  | { readonly type: 'inspect'; readonly request: InspectRequest; readonly port: MessagePort }

/** The prices of the calls that start from now on; undefined: no catalog is configured. */
export interface CatalogMessage {
  readonly type: 'modelCatalog'
  readonly catalog: ModelCatalog | undefined
}

/** Before the first configuration that counts the tokens of prompts. */
export interface TokenTablesMessage {
  readonly type: 'tokenTables'
  readonly tables: TokenTables
}

export type MainToWorker = CoreMessage | CatalogMessage | TokenTablesMessage

export type WorkerToMain =
  | { readonly type: 'started' }
  | { readonly type: 'prepared'; readonly generation: number; readonly warnings: readonly string[] }
  | { readonly type: 'applied'; readonly generation: number; readonly warnings: readonly string[] }
  | { readonly type: 'rejected'; readonly generation: number; readonly message: string }
  /** The log ring has lines and its reader was asleep. */
  | { readonly type: 'log' }
  /** A token named a key that the set of this source (JwtProvider.source) lacks. */
  | { readonly type: 'unknownKey'; readonly source: string }
  | TokenMessage
  | CredentialMessage
  | { readonly type: 'drained' }
