// The library of regular expressions in RE2 syntax, loaded when the first one is compiled: it takes 0.6 MiB of each
// thread, and many configurations have none.
import { createRequire } from 'node:module'
import type * as Re2 from 're2js'

/** The bundle has the library as a file of its own (rolldown.config.ts). */
const LIBRARY = import.meta.url.endsWith('.ts') ? 're2js' : './re2.js'

let loaded: typeof Re2 | undefined

export function re2(): typeof Re2 {
  // Both files have the exports of the package; require() returns `any`.
  return (loaded ??= createRequire(import.meta.url)(LIBRARY) as typeof Re2)
}
