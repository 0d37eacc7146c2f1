// What a worker runs: the compiled form of one rendered configuration. Made by compile.ts; swapped as a whole.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange.ts'
import type { AuthStores } from '../auth/auth-stores.ts'
import type { Place } from '../backend/locality.ts'
import type { EndpointStates } from '../backend/endpoint-store.ts'
import type { TransferredBytes } from '../http/byte-meter.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { AccessLogRule, RefusedRequest } from '../log/access-log.ts'
import type { EnterBind } from '../runtime/enter-bind.ts'
import type { RateLimitStore } from '../policy/rate-limit-store.ts'
import type { GrpcClient } from '../grpc/client.ts'
import type { OtlpEnvironment } from '../otlp/environment.ts'
import type { ExportOutcome, OtlpHub } from '../otlp/hub.ts'
import type { OutboundCall } from '../trace/outbound.ts'
import type { LoadShedder } from '../runtime/pulse.ts'
import type { TraceTap } from '../trace/tap.ts'
import type { TcpBindPlan } from '../tcp/plan.ts'
import type { TlsBindPlan } from '../tls/plan.ts'
import type { DynamicForwarding } from '../upstream/dynamic.ts'
import type { UpstreamClient } from '../upstream/target.ts'
import type { ConfigIndex } from './config-index.ts'
import type { CompileContext } from './context.ts'
import type { ListenerPlans } from './listener-plans.ts'
import type { McpAccess } from '../mcp/access.ts'

/** Access log, metrics and traces hang here. */
export interface ExchangeObserver {
  /** `rule`: the access log policy of the listener. */
  finished(exchange: Exchange, isComplete: boolean, rule: AccessLogRule | undefined): void
  /** Bytes of a connection that carries requests. */
  transferred(bytes: TransferredBytes): void
  /** A service that a policy asks, or a mirror, answered or failed. */
  called?(call: OutboundCall): void
  /** Records of spans or logs left, or were lost. */
  exported?(outcome: ExportOutcome): void
  refused(info: RefusedRequest): void
}

export interface CompileEnvironment {
  readonly client: UpstreamClient
  readonly grpc: GrpcClient
  readonly rateLimits: RateLimitStore
  readonly endpoints: EndpointStates
  /** Where this proxy is, as far as its settings say. */
  readonly place?: Place
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

export interface CompiledBind {
  readonly key: string
  readonly port: number
  /** Of plain HTTP binds; its limits hold for every kind. */
  readonly handler: RequestHandler
  /** What the port speaks below HTTP; absent: HTTP at once. */
  readonly layer4?: TlsBindPlan | TcpBindPlan | undefined
}

export interface CompiledConfig {
  readonly generation: number
  /** By port. Internal binds are not in it. */
  readonly binds: ReadonlyMap<number, CompiledBind>
  readonly warnings: readonly string[]
  /** Keys and remembered credentials, carried over as far as the next configuration has them. */
  readonly auth: AuthStores
  /** What sends spans and log records; exporters go on as far as the next configuration has them. */
  readonly otlp: OtlpHub
  /** Where its items are found; kept up to date for the next configuration. */
  readonly index: ConfigIndex
  /** By key; carried over as far as the next configuration has them. */
  readonly listeners: ReadonlyMap<string, ListenerPlans>
  readonly context: CompileContext
}

export interface CompileInput {
  readonly generation: number
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

/** `previous` is the configuration in force. @throws {ConfigError} and leaves `previous` untouched. */
export type CompileConfig = (
  input: CompileInput,
  environment: CompileEnvironment,
  previous: CompiledConfig | undefined,
) => CompiledConfig

export class ConfigError extends Error {}
