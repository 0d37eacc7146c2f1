// The result of applying a configuration.
import type { Problem } from '#api/problem.ts'

export type ApplyResult =
  | { readonly generation: number; readonly warnings: readonly string[] }
  | { readonly problem: Problem }
