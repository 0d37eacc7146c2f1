// Tokens whose key is in no set that a proxy has: their issuer may have changed keys since they were fetched. Proxies
// count them for each set, and the operator, which fetches the sets, then fetches the set early. Pure.
import { hash } from 'node:crypto'
import { isRecord } from '../json.ts'

/** How often each set has lacked a key, since the proxy started; by the id of the set. */
export type UnknownKeys = Readonly<Record<string, number>>

/** Of one proxy; those that lacked one last. */
export const UNKNOWN_KEYS_MAX = 8

/** Of fixed length, whatever the address that a set comes from. `source`: as the provider of a configuration has it. */
export function keySetId(source: string): string {
  return hash('sha256', source, 'hex')
}

export function isUnknownKeys(value: unknown): value is UnknownKeys {
  if (!isRecord(value)) return false
  const counts = Object.values(value)
  return counts.length <= UNKNOWN_KEYS_MAX && counts.every((count) => Number.isSafeInteger(count))
}

interface Word {
  readonly unknownKeys?: UnknownKeys
}

/** The ids of sets that lacked a key between two acknowledgements of the proxies; both by pod. */
export function setsThatLacked(before: ReadonlyMap<string, Word>, after: ReadonlyMap<string, Word>): Set<string> {
  const lacked = new Set<string>()
  for (const [pod, { unknownKeys = {} }] of after) {
    const known = before.get(pod)?.unknownKeys ?? {}
    // A lower number comes from a proxy that was restarted under the same name.
    for (const [id, count] of Object.entries(unknownKeys)) if (count !== known[id]) lacked.add(id)
  }
  return lacked
}
