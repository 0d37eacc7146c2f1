// The result of applying a configuration.
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'

export type ApplyResult =
  | { readonly generation: number; readonly warnings: readonly string[] }
  | { readonly problem: Problem }

/** A newer one came while it was prepared. */
export const SUPERSEDED: ApplyResult = {
  problem: { path: 'config', reason: 'Superseded', message: 'a newer configuration replaces it', severity: 'warning' },
}

/** A configuration in force. */
export interface Applied {
  readonly generation: number
  readonly config: RenderedConfig
  /** Without the certificate of the mesh. */
  readonly secrets: RenderedSecrets
  /** Warnings that are in the statuses or the log already. */
  readonly reported: readonly string[]
}
