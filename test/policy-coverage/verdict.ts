// The missing tests that no exception allows. Pure.
import type { Exception } from './exceptions.ts'
import type { Setting } from './settings.ts'

export interface Verdict {
  readonly missing: readonly string[]
  /** Reasons of exceptions that are not needed. */
  readonly idle: readonly string[]
}

export const COMPLETE: Verdict = { missing: [], idle: [] }

export function verdict(lacking: readonly Setting[], exceptions: readonly Exception[]): Verdict {
  const paths = lacking.map(({ path }) => path)
  return {
    missing: paths.filter((path) => !exceptions.some((one) => one.settings.test(path))),
    idle: exceptions.filter((one) => !paths.some((path) => one.settings.test(path))).map(({ because }) => because),
  }
}
