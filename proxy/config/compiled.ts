// What a worker runs: the compiled form of one rendered configuration. Made by compile.ts; swapped as a whole.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { AuthStores } from '../auth/auth-stores.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { OtlpHub } from '../otlp/hub.ts'
import type { TcpBindPlan } from '../tcp/plan.ts'
import type { TlsBindPlan } from '../tls/plan.ts'
import type { ConfigIndex } from './config-index.ts'
import type { CompileContext } from './context.ts'
import type { ListenerPlans } from './listener-plans.ts'
import type { CompileEnvironment } from './compile-environment.ts'

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
