// What a worker runs: the compiled form of one rendered configuration. Made by compile.ts; swapped as a whole.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange.ts'
import type { EndpointTable } from '../backend/endpoints.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { AccessLogRule } from '../log/access-log.ts'
import type { RateLimitStore } from '../policy/rate-limit-store.ts'
import type { UpstreamClient } from '../upstream/target.ts'

/** Access log, metrics and traces hang here. */
export interface ExchangeObserver {
  /** `rule`: the access log policy of the listener. */
  finished(exchange: Exchange, isComplete: boolean, rule: AccessLogRule | undefined): void
  refused(info: { sourceAddress: string; sourcePort: number; status: number; detail: string }): void
}

export interface CompileEnvironment {
  readonly client: UpstreamClient
  readonly rateLimits: RateLimitStore
  readonly observer: ExchangeObserver
  readonly sessionKey: Uint8Array | undefined
}

export interface CompiledBind {
  readonly key: string
  readonly port: number
  readonly handler: RequestHandler
}

export interface CompiledConfig {
  readonly generation: number
  /** By port. Internal binds are not in it. */
  readonly binds: ReadonlyMap<number, CompiledBind>
  readonly warnings: readonly string[]
  /** Endpoints with their health, carried over to the next configuration. */
  readonly endpoints: EndpointTable
}

export interface CompileInput {
  readonly generation: number
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

/** `previous` keeps the health of endpoints that stay. @throws {ConfigError} and leaves `previous` untouched. */
export type CompileConfig = (
  input: CompileInput,
  environment: CompileEnvironment,
  previous: CompiledConfig | undefined,
) => CompiledConfig

export class ConfigError extends Error {}
