// The interface of compiled backends, and the services that the kinds of backends (HTTP, LLM, MCP) may use.
import type {
  Backend,
  BackendPayload,
  BackendReference,
  GuardService,
  JwtAuthentication,
  SecretRef,
  ServiceReference,
  ObjectName,
} from '#api/ir/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import type { ChainEnvironment } from '../chain/environment.ts'
import type { Filter, CompiledChain } from '../chain/filter.ts'
import type { ServiceCaller } from '../chain/service.ts'
import type { McpSessionEvent } from '../exchange/facts.ts'
import type { CallSubtype } from '../exchange/request-span.ts'
import type { EndpointRecord, HealthRule, TextReads } from '../exchange/slots.ts'
import type { UpstreamClient, UpstreamTarget } from '../upstream/target.ts'

/** One address that can be called, with the counters load balancing needs. */
export interface Endpoint {
  readonly target: UpstreamTarget
  /** Value of the Host header when nothing else fixes it. */
  readonly authority: string
  /** `host:port` for logs. */
  readonly label: string
  /** Higher is better; see endpoints.ts. */
  readonly score: number
  /** Figures that all workers share; health.ts writes them. */
  readonly state: EndpointRecord
  /** A call starts; pair with `end`. */
  begin(): void
  /** A call is over: `latencyMs` to the end of the response, `isHealthy` false for 5xx and transport failures. */
  end(latencyMs: number, isHealthy: boolean): void
}

export interface EndpointPicker {
  /** True when the address was given as a host name (automatic host rewrite applies). */
  readonly isHostname: boolean
  /** undefined: there is no endpoint. */
  pick(): Endpoint | undefined
  /** One that is neither evicted nor in this list; undefined: all others are evicted or in the list. */
  other(tried: readonly EndpointRecord[]): Endpoint | undefined
  /** Whether any endpoint is not evicted. */
  hasActive(): boolean
  /** The endpoint of that label, for sessions pinned to one; undefined if it was removed. */
  find(label: string): Endpoint | undefined
}

/** The target of backend policies: a Service port, or a backend, which may have its own. */
export interface CalledPlace {
  readonly service?: ServiceReference | undefined
  readonly backend?: { readonly name: ObjectName; readonly inlinePolicies?: BackendPayload | undefined } | undefined
}

/** Which backend filters are for: its address, or the reference to it. */
export interface FilteredPlace {
  readonly host?: string | undefined
  readonly ref?: BackendReference | undefined
}

/** Services of the compiler to the kinds of backends. */
export interface BackendEnvironment {
  readonly client: UpstreamClient
  /**
   * Endpoints of a reference with the connection policies (tls, tcp) applied; undefined when the reference is broken.
   */
  resolve(ref: BackendReference, policies: EffectiveBackend): EndpointPicker | undefined
  /** Endpoint of a plain address that a section of the backend (an AI provider) has. */
  resolveAddress(address: { section: string; host: string; port: number }, policies: EffectiveBackend): EndpointPicker
  /** Merged policies of a sub-backend (AI provider, MCP target) over those of its backend. */
  sectionPolicies(section: string, inline: BackendPayload | undefined): EffectiveBackend
  /** undefined: only scores change. */
  health(policies: EffectiveBackend): HealthRule | undefined
  /** Policies of the Service or backend that a reference names. */
  policiesOf(ref: BackendReference): BackendPayload
  /** Filters of merged backend policies: timeout, credential, transformation, header modifiers. */
  filters(policies: EffectiveBackend, place: FilteredPlace): CompiledChain
  /** As in `ChainEnvironment`. */
  readonly service: ChainEnvironment['service']
  /**
   * Calls a server of the backend itself over HTTP, with the policies of its section. `timeoutMs`: unless
   * `http.requestTimeout` is set. undefined: the reference has no target.
   */
  server(
    ref: BackendReference,
    policies: EffectiveBackend,
    options: { readonly subtype: CallSubtype; readonly timeoutMs: number },
  ): ServiceCaller | undefined
  /** The service of a vendor at port 443 of this host, with TLS; undefined: the host is invalid. */
  vendor(host: string, policies: GuardService): ServiceCaller | undefined
  /** undefined: the secret is missing, so the credential counts as absent and the call fails. */
  secret(ref: SecretRef): string | undefined
  /** Checks tokens of clients. */
  authentication(auth: JwtAuthentication): Filter
  /** Permissive: a text that does not compile becomes an expression that always fails. */
  expression(source: string): CelExpression
  readonly bufferBytesMax: number
  /** Of the route; may grow while parts of the route are compiled. */
  readonly textReads: TextReads
  /** Keys of 32 bytes for MCP sessions: the first seals, all open. */
  readonly sessionKeys: readonly Uint8Array[]
  /** After which unused MCP sessions end at their servers. */
  readonly mcpSessionTtlMs: number
  /**
   * Calls `listener` with the backend of the configuration in force, at once and after each change, until the returned
   * function is called. undefined: it was removed.
   */
  watchBackend(listener: (backend: Backend | undefined) => void): () => void
  /** For metrics. */
  readonly mcpSession: (event: McpSessionEvent, server: string) => void
}
