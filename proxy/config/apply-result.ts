// The result of applying a configuration.
import type { Problem } from '#api/problem.ts'

export type ApplyResult =
  | { readonly generation: number; readonly warnings: readonly string[] }
  | { readonly problem: Problem }

/** A newer one came while it was prepared. */
export const SUPERSEDED: ApplyResult = {
  problem: { path: 'config', reason: 'Superseded', message: 'a newer configuration replaces it', severity: 'warning' },
}
