// What the compiler of a worker is given besides the configuration.
import type { Locality } from '../backend/locality.ts'
import type { EndpointStates } from '../backend/endpoint-store.ts'
import type { EnterBind } from '../http/enter-bind.ts'
import type { RateLimitStore } from '../chain/rate-limits.ts'
import type { GrpcClient } from '../grpc/client.ts'
import type { OtlpEnvironment } from '../otlp/environment.ts'
import type { LoadShedder } from '../overload/pulse.ts'
import type { TraceTap } from '../trace/tap.ts'
import type { DynamicForwarding } from '../upstream/dynamic.ts'
import type { UpstreamClient } from '../upstream/target.ts'
import type { ExchangeObserver } from '../pipeline/observer.ts'
import type { McpAccess } from '../mcp/access.ts'

export interface CompileEnvironment {
  readonly client: UpstreamClient
  readonly grpc: GrpcClient
  readonly rateLimits: RateLimitStore
  readonly endpoints: EndpointStates
  /** Where this proxy is, as far as its settings say. */
  readonly place?: Locality
  readonly observer: ExchangeObserver
  /** Takes the requests that somebody watches. */
  readonly tap?: TraceTap
  readonly sessionKeys: readonly Uint8Array[]
  /** Hosts and origins that MCP endpoints take besides their own. */
  readonly mcpAccess?: McpAccess
  /** Absent: dynamic forward proxies are not served. */
  readonly dynamic?: DynamicForwarding
  /** Absent: tunnels have nowhere to lead, and CONNECT is answered with 404. */
  readonly enterBind?: EnterBind
  /** Absent: that of DEFAULT_LIMITS. */
  readonly bodyIdleTimeoutMs?: number
  /** Absent: no request is refused for load. */
  readonly shedder?: LoadShedder
  /** Absent: the environment says nothing of collectors. */
  readonly otlp?: OtlpEnvironment
  /** A token named a key that the set of this source lacks. */
  readonly unknownKey?: (source: string) => void
}
