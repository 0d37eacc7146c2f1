// Collects garbage in tests of what is kept in memory.
import { setImmediate as turn } from 'node:timers/promises'
import { fullCollection } from './full-collection.ts'

const COLLECTIONS_MAX = 20

/** Until `isDone`: a value that a WeakRef has returned lives until the next turn, others until the code has gone on. */
export async function collectUntil(isDone: () => boolean, max = COLLECTIONS_MAX): Promise<boolean> {
  for (let count = 0; count < max; count++) {
    await turn()
    fullCollection('regular')()
    await turn()
    if (isDone()) return true
  }
  return false
}
