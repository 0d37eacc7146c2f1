// The counters of this thread, made from the vocabularies with the first prompt.
import { TokenCounter } from './count.ts'
import { currentTables } from './current-tables.ts'
import type { EncodingName } from './encodings.ts'

const counters = new Map<EncodingName, TokenCounter>()

/** @throws {Error} before the main thread has sent the vocabularies */
export function tokenCounter(name: EncodingName): TokenCounter {
  let counter = counters.get(name)
  if (counter === undefined) {
    counter = new TokenCounter(name, currentTables()[name])
    counters.set(name, counter)
  }
  return counter
}
