// The compiled form of one rendered configuration, for a worker. Created by compile.ts; replaced as a whole.
import type { Listener, RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Steps } from '#api/incremental/steps.ts'
import type { AuthStores } from '../auth/auth-stores.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { ListenerPlan } from '../chain/plan.ts'
import type { OtlpHub } from '../otlp/hub.ts'
import type { HostMap } from '../route/host-map.ts'
import type { TcpBindPlan } from '../tcp/plan.ts'
import type { TlsBindPlan } from '../tls/plan.ts'
import type { ConfigIndex } from './config-index.ts'
import type { CompileContext } from './context.ts'
import type { ListenerPlans } from './listener-plans.ts'
import type { CompileEnvironment } from './compile-environment.ts'

export interface CompiledBind {
  readonly key: string
  readonly port: number
  /** Opens no socket: only tunnels of CONNECT lead to it. */
  readonly isInternal: boolean
  /** For plain HTTP binds; its limits apply to every kind. */
  readonly handler: RequestHandler
  /** The protocol of the port below HTTP; absent: plain HTTP. */
  readonly layer4?: TlsBindPlan | TcpBindPlan | undefined
  /** For explanations of its routing. */
  readonly routing: BindRouting
}

export interface BindRouting {
  readonly isTls: boolean
  readonly hosts: HostMap<ListenerPlan>
  readonly listeners: readonly { readonly listener: Listener; readonly plan: ListenerPlan }[]
}

export interface CompiledConfig {
  readonly generation: number
  /** By port, without internal binds. */
  readonly binds: ReadonlyMap<number, CompiledBind>
  readonly warnings: readonly string[]
  /** Keys and remembered credentials, reused if the next configuration has them. */
  readonly auth: AuthStores
  /** Sends spans and log records; exporters are reused if the next configuration has them. */
  readonly otlp: OtlpHub
  /** The index of its items; updated for the next configuration. */
  readonly index: ConfigIndex
  /** By key; reused if the next configuration has them. */
  readonly listeners: ReadonlyMap<string, ListenerPlans>
  readonly context: CompileContext
}

export interface CompileInput {
  readonly generation: number
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

/** `previous` is the configuration in force. The steps throw ConfigError, and leave `previous` unchanged. */
export type CompileSteps = (
  input: CompileInput,
  environment: CompileEnvironment,
  previous: CompiledConfig | undefined,
) => Steps<CompiledConfig>

export class ConfigError extends Error {}
