// Names that clients chose, asked of the name servers directly: the system's resolver runs in the few threads that the
// whole process shares, and slow answers for such names would hold up everybody else's. Knows no hosts file and no
// search list.
import { Resolver } from 'node:dns/promises'
import type { Lookup } from './dns-cache.ts'

const TIMEOUT_MS = 2000
const TRIES = 2

interface Found {
  readonly address: string
  readonly ttl: number
}

export function resolverLookup(): Lookup {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  return (host, done) => {
    void Promise.allSettled([resolver.resolve4(host, { ttl: true }), resolver.resolve6(host, { ttl: true })]).then(
      ([v4, v6]) => {
        const found: Found[] = [v4, v6].flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
        if (found.length > 0) {
          const ttlMs = Math.min(...found.map(({ ttl }) => ttl)) * 1000
          done(
            undefined,
            found.map(({ address }) => address),
            ttlMs,
          )
        } else done(v4.status === 'rejected' && v4.reason instanceof Error ? v4.reason : new Error('no address'), [])
      },
    )
  }
}
