// The vocabularies that the main thread sent to this thread.
import type { TokenTables } from './tables.ts'

let current: TokenTables | undefined

/** Before the first configuration that counts tokens. */
export function useTokenTables(tables: TokenTables): void {
  current = tables
}

/** @throws {Error} before `useTokenTables` */
export function currentTables(): TokenTables {
  if (current === undefined) throw new Error('the vocabularies are not loaded')
  return current
}
