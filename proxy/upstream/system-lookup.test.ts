// Names of configured backends against a real name server on UDP, with files of the test's own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { DnsCache } from './dns-cache.ts'
import { nameServer, type NameRecord, type NameServer } from './name-server.testing.ts'
import { systemLookup, type SystemLookupOptions } from './system-lookup.ts'

const cleanup: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const each of cleanup.splice(0)) await each()
})

interface Found {
  readonly error: Error | undefined
  readonly addresses: readonly string[]
  readonly ttlMs: number | undefined
}

interface Setup {
  readonly server: NameServer
  /** Asked when name servers do not know a name. */
  readonly lastAsked: string[]
  readonly find: (host: string) => Promise<Found>
  readonly writeHosts: (text: string) => void
}

async function setUp(
  records: Readonly<Record<string, NameRecord>>,
  files: { readonly hosts?: string; readonly resolvConf?: string } = {},
  options: SystemLookupOptions = {},
): Promise<Setup> {
  const server = await nameServer(records)
  const folder = mkdtempSync(join(tmpdir(), 'gw-names-'))
  cleanup.push(
    () => server.stop(),
    () => rmSync(folder, { recursive: true }),
  )
  const hostsPath = join(folder, 'hosts')
  const resolvConfPath = join(folder, 'resolv.conf')
  writeFileSync(hostsPath, files.hosts ?? '')
  writeFileSync(resolvConfPath, files.resolvConf ?? '')
  const lastAsked: string[] = []
  const lookup = systemLookup({
    hostsPath,
    resolvConfPath,
    servers: [server.address],
    last: (host) => {
      lastAsked.push(host)
      return Promise.reject(new Error(`getaddrinfo ENOTFOUND ${host}`))
    },
    ...options,
  })
  return {
    server,
    lastAsked,
    find: (host) =>
      new Promise((resolve) => lookup(host, (error, addresses, ttlMs) => resolve({ error, addresses, ttlMs }))),
    writeHosts: (text) => writeFileSync(hostsPath, text),
  }
}

describe('systemLookup', () => {
  it('gives the addresses of a name server and the time to live of its answer', async () => {
    const { find, lastAsked } = await setUp({ 'api.test': { a: ['192.0.2.1', '192.0.2.2'], ttl: 17 } })
    expect(await find('api.test')).toEqual({ error: undefined, addresses: ['192.0.2.1', '192.0.2.2'], ttlMs: 17_000 })
    expect(lastAsked).toEqual([])
  })

  it('takes the hosts file first, in any case of letters, and sees its changes', async () => {
    const { server, find, writeHosts } = await setUp(
      { 'api.test': { a: ['192.0.2.1'] } },
      { hosts: '192.0.2.9 other API.test # mine\n' },
    )
    expect(await find('Api.test')).toMatchObject({ addresses: ['192.0.2.9'], ttlMs: 5000 })
    expect(server.seen).toEqual([])
    writeHosts('# nothing any more\n')
    expect(await find('api.test')).toMatchObject({ addresses: ['192.0.2.1'] })
  })

  it('asks for short names in the search list, for long ones as they are', async () => {
    const records = {
      'web.shop.svc.cluster.local': { a: ['192.0.2.3'] },
      'api.example.com.': {},
      'api.example.com': { a: ['192.0.2.4'] },
    }
    const resolvConf = 'search shop.svc.cluster.local svc.cluster.local\noptions ndots:2 timeout:1\n'
    const { server, find } = await setUp(records, { resolvConf })
    expect(await find('web')).toMatchObject({ addresses: ['192.0.2.3'] })
    expect(await find('web.shop')).toMatchObject({ addresses: ['192.0.2.3'] })
    expect(await find('api.example.com')).toMatchObject({ addresses: ['192.0.2.4'] })
    expect(server.seen.filter((question) => question.startsWith('A '))).toEqual([
      'A web.shop.svc.cluster.local',
      'A web.shop.shop.svc.cluster.local',
      'A web.shop.svc.cluster.local',
      'A api.example.com',
    ])
  })

  it('asks the resolver of the system for names that no name server knows, not for names without an answer', async () => {
    const { find, lastAsked } = await setUp({ 'broken.test': { rcode: 2 } })
    expect((await find('printer.local')).error?.message).toBe('getaddrinfo ENOTFOUND printer.local')
    expect(lastAsked).toEqual(['printer.local'])
    expect((await find('broken.test')).error?.message).toContain('ESERVFAIL')
    expect(lastAsked).toEqual(['printer.local'])
  })

  it('continues after a suffix that cannot be queried, and reports it if nothing is found', async () => {
    const records = { 'api.corp': { rcode: 2 }, 'other.corp': { rcode: 2 }, api: { a: ['192.0.2.5'] } }
    const { find, lastAsked } = await setUp(records, { resolvConf: 'search corp\n' })
    expect(await find('api')).toMatchObject({ addresses: ['192.0.2.5'] })
    expect((await find('other')).error?.message).toContain('ESERVFAIL')
    expect(lastAsked).toEqual([])
  })

  it('asks it as well where there is no name server', async () => {
    const { server, find, lastAsked } = await setUp({}, {}, { last: () => Promise.resolve(['192.0.2.7']) })
    await server.stop()
    cleanup.shift()
    expect(await find('api.test')).toEqual({ error: undefined, addresses: ['192.0.2.7'], ttlMs: 30_000 })
    expect(lastAsked).toEqual([])
  })

  it.each([
    ['V4_ONLY', ['192.0.2.1']],
    ['V6_ONLY', ['2001:db8::1']],
    ['V4_PREFERRED', ['192.0.2.1', '2001:db8::1']],
  ] as const)('%s', async (family, addresses) => {
    const { find } = await setUp({}, { hosts: '2001:db8::1 api.test\n192.0.2.1 api.test\n' }, { family })
    expect((await find('api.test')).addresses).toEqual(addresses)
  })

  it('asks the real resolver of the system', async () => {
    const { find } = await setUp({}, {}, { last: undefined })
    expect((await find('localhost')).addresses).toContain('127.0.0.1')
  })
})

it('a cache follows the name server, and keeps its last answer when it fails', async () => {
  const { server } = await setUp({ 'api.test': { a: ['192.0.2.1'], ttl: 6 } })
  let now = 0
  const lookup = systemLookup({ hostsPath: '/dev/null', resolvConfPath: '/dev/null', servers: [server.address] })
  const cache = new DnsCache(lookup, () => now)
  const resolve = (): Promise<readonly string[]> => new Promise((done) => cache.resolve('api.test', done))
  expect(await resolve()).toEqual(['192.0.2.1'])
  server.records.set('api.test', { a: ['192.0.2.2'], ttl: 6 })
  now = 5999
  expect(await resolve()).toEqual(['192.0.2.1'])
  now = 6000
  await expect.poll(resolve).toEqual(['192.0.2.2'])
  server.records.set('api.test', { rcode: 2 })
  now = 12_000
  const before = server.seen.length
  await resolve()
  await expect.poll(() => server.seen.length).toBeGreaterThan(before)
  expect(await resolve()).toEqual(['192.0.2.2'])
})
