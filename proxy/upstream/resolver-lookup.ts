// Names that clients chose, asked of the name servers directly: the system's resolver runs in the few threads that the
// whole process shares, and slow answers for such names would delay all other lookups. Does not use the hosts file or
// search list.
import type { LookupFamily } from '#api/units/lookup-family.ts'
import { ofFamily } from './lookup-family.ts'
import type { Lookup } from './lookup.ts'
import { nameServers, queryName } from './query-names.ts'

/** `servers`: those of the system unless a test has its own. */
export function resolverLookup(family: LookupFamily = 'V4_PREFERRED', servers?: readonly string[]): Lookup {
  const resolver = nameServers(servers)
  return (host, done) => {
    void queryName(resolver, host, family).then((outcome) => {
      if ('answer' in outcome) done(undefined, ofFamily(outcome.answer.addresses, family), outcome.answer.ttlMs)
      else done(outcome.error, [])
    })
  }
}
