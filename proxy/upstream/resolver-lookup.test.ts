// Names that clients chose are asked of name servers, never of the hosts file.
import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { parseHosts } from './hosts-file.ts'
import { type NameServer, nameServer } from './name-server.testing.ts'
import { resolverLookup } from './resolver-lookup.ts'
import { systemLookup } from './system-lookup.ts'

let server: NameServer | undefined
afterEach(() => server?.stop())

it('finds what the name server says, and nothing of the hosts file', async () => {
  const known = [...parseHosts(readFileSync('/etc/hosts', 'utf8')).keys()]
  const [first = ''] = known
  server = await nameServer({ 'a.test': { a: ['192.0.2.7'] } })
  const found = async (lookup: ReturnType<typeof resolverLookup>, host: string): Promise<readonly string[]> => {
    const { promise, resolve } = Promise.withResolvers<readonly string[]>()
    lookup(host, (_error, addresses) => resolve(addresses))
    return promise
  }
  const names = resolverLookup('V4_PREFERRED', [server.address])
  expect(await found(names, 'a.test')).toEqual(['192.0.2.7'])
  for (const host of known) expect([host, await found(names, host)]).toEqual([host, []])
  // Backends of a configuration have the hosts file.
  expect(await found(systemLookup(), first)).not.toEqual([])
})
