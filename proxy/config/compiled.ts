// What a worker runs: the compiled form of one rendered configuration. Made by compile.ts; swapped as a whole.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { RateLimitStore } from '../policy/rate-limit-store.ts'
import type { UpstreamClient } from '../upstream/target.ts'

/** Access log, metrics and traces hang here. */
export interface ExchangeObserver {
  finished(exchange: Exchange, isComplete: boolean): void
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
  /** Pool keys in use, for UpstreamClient.retain. */
  readonly targetKeys: ReadonlySet<string>
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
