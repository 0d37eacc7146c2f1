// What each kind of backend credential is compiled to. One file of this folder for each kind; auth.ts has the table.
import type { BackendAuth } from '#api/ir/types.gen.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import type { Filter } from '../../chain/filter.ts'

export type AuthEnvironment = Pick<
  ChainEnvironment,
  'secret' | 'tokens' | 'service' | 'origin' | 'expression' | 'backendHost'
>

export interface CompiledAuth {
  /** What it does, for traces, without any secret. */
  readonly note: string
  /**
   * Runs on each try, before transformations of the backend. May be asynchronous. A failure is
   * `exchange.fail('backendAuthFailed', …)`. A signature over the whole request is made later: the filter sets
   * `exchange.request.signer` (message/request-signer.ts), which is called when head and body are final.
   */
  readonly request: Filter
  /** Its expressions read the body. */
  readonly readsRequestBody?: boolean
}

/** Why there is no credential, for the log, such as `secret shop/key is missing`. All requests fail with 500. */
export interface BrokenAuth {
  readonly problem: string
}

/** undefined: the block does not have this kind. */
export type AuthKind = (auth: BackendAuth, environment: AuthEnvironment) => CompiledAuth | BrokenAuth | undefined
