// The inputs of the compiler of a worker besides the configuration.
import type { Locality } from '../backend/locality.ts'
import type { EndpointStates } from '../backend/endpoint-store.ts'
import type { EnterBind } from '../http/enter-bind.ts'
import type { RateLimitStore } from '../chain/rate-limits.ts'
import type { TokenStore } from '../credentials/token.ts'
import type { GrpcClient } from '../grpc/client.ts'
import type { HboneClient } from '../mesh/hbone-client.ts'
import type { OtlpEnvironment } from '../otlp/environment.ts'
import type { LoadShedder } from '../overload/pulse.ts'
import type { TraceTap } from '../trace/tap.ts'
import type { ConnectionDefaults } from '../upstream/connection-defaults.ts'
import type { DynamicForwarding } from '../upstream/dynamic.ts'
import type { UpstreamClient } from '../upstream/target.ts'
import type { ExchangeObserver } from '../pipeline/observer.ts'
import type { McpAccess } from '../mcp/access.ts'
import type { ConfigChanges } from './config-changes.ts'

export interface CompileEnvironment {
  readonly client: UpstreamClient
  readonly grpc: GrpcClient
  readonly rateLimits: RateLimitStore
  /** Absent: one for this configuration alone. */
  readonly tokens?: TokenStore
  readonly endpoints: EndpointStates
  /** The location of this proxy, as far as its settings contain it. */
  readonly place?: Locality
  readonly observer: ExchangeObserver
  /** Receives the watched requests. */
  readonly tap?: TraceTap
  readonly sessionKeys: readonly Uint8Array[]
  /** After which unused MCP sessions end at their servers. Absent: 30 min. */
  readonly mcpSessionTtlMs?: number
  /** Absent: nothing is reported. */
  readonly changes?: ConfigChanges
  /** Hosts and origins that MCP endpoints accept besides their own. */
  readonly mcpAccess?: McpAccess
  /** Absent: dynamic forward proxies are not served. */
  readonly dynamic?: DynamicForwarding
  /** Absent: there are no tunnels, and CONNECT is answered with 404. */
  readonly enterBind?: EnterBind
  /** Absent: the proxy is part of no mesh. */
  readonly hbone?: HboneClient | undefined
  /** Absent: those of the specification. */
  readonly connections?: ConnectionDefaults
  /** Absent: the same as DEFAULT_LIMITS. */
  readonly bodyIdleTimeoutMs?: number
  /** Absent: no request is rejected because of load. */
  readonly shedder?: LoadShedder
  /** Absent: the environment sets no collectors. */
  readonly otlp?: OtlpEnvironment
  /** Called for a token whose key is missing in the set of this source. */
  readonly unknownKey?: (source: string) => void
}
