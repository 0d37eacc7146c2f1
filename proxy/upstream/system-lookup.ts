// Names of configured backends: the hosts file, then the name servers and the search list of the system, asked
// directly, because the system's own resolver returns no time to live. It answers at last for names it alone knows.
import dns from 'node:dns'
import { stat, readFile } from 'node:fs/promises'
import type { Resolver } from 'node:dns/promises'
import { parseHosts } from './hosts-file.ts'
import type { LookupFamily } from '#api/units/lookup-family.ts'
import { asksFor, ofFamily } from './lookup-family.ts'
import type { Lookup } from './lookup.ts'
import { nameServers, queryName, type Answer, type Outcome } from './query-names.ts'
import { candidateNames, parseResolvConf, type SearchRules } from './resolv-conf.ts'

export interface SystemLookupOptions {
  readonly family?: LookupFamily | undefined
  /** Files and name servers of the system unless a test has its own. */
  readonly hostsPath?: string
  readonly resolvConfPath?: string
  readonly servers?: readonly string[]
  /** Asked when name servers do not know a name. */
  readonly last?: ((host: string, family: LookupFamily) => Promise<readonly string[]>) | undefined
}

/** A change of the hosts file is seen after this time. */
const HOSTS_TTL_MS = 5000
/** For answers without one. */
const TTL_MS = 30_000

export function systemLookup(options: SystemLookupOptions = {}): Lookup {
  const { family = 'V4_PREFERRED', servers, last = systemResolver } = options
  const hosts = new WatchedFile(options.hostsPath ?? '/etc/hosts', parseHosts)
  const system = new WatchedFile(options.resolvConfPath ?? '/etc/resolv.conf', (text) => ({
    rules: parseResolvConf(text),
    resolver: nameServers(servers),
  }))
  const find = async (host: string): Promise<Answer> => {
    const known = ofFamily((await hosts.read()).get(host.toLowerCase()) ?? [], family)
    if (known.length > 0) return { addresses: known, ttlMs: HOSTS_TTL_MS }
    const { rules, resolver } = await system.read()
    const outcome = await askForAll({ host, rules, resolver, family })
    if ('answer' in outcome) return outcome.answer
    if (!outcome.isAbsent) throw outcome.error
    return { addresses: await last(host, family), ttlMs: TTL_MS }
  }
  return (host, done) => {
    find(host).then(
      ({ addresses, ttlMs }) => done(undefined, ofFamily(addresses, family), ttlMs),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), []),
    )
  }
}

/** The first name that has addresses. A name server that does not answer ends it: the next name would wait too. */
async function askForAll(input: {
  readonly host: string
  readonly rules: SearchRules
  readonly resolver: Resolver
  readonly family: LookupFamily
}): Promise<Outcome> {
  const { host, rules, resolver, family } = input
  let failed: Extract<Outcome, { error: Error }> = { error: new Error('no address'), isAbsent: true }
  for (const name of candidateNames(host, rules)) {
    const outcome = await queryName(resolver, name, family)
    if ('answer' in outcome) return outcome
    // Without any name server the system may still know the name.
    if (hasCode(outcome.error, 'ECONNREFUSED')) return { ...outcome, isAbsent: true }
    // One suffix that cannot be asked about must not take the other names away.
    if (!outcome.isAbsent && !hasCode(outcome.error, 'ESERVFAIL')) return outcome
    if (failed.isAbsent) failed = outcome
  }
  return failed
}

function hasCode(error: Error, code: string): boolean {
  return 'code' in error && error.code === code
}

async function systemResolver(host: string, family: LookupFamily): Promise<readonly string[]> {
  const [only, other] = asksFor(family)
  const found = await dns.promises.lookup(host, {
    all: true,
    order: 'ipv4first',
    family: other === undefined ? only : 0,
  })
  return found.map(({ address }) => address)
}

/** The meaning of a file, read again when the file has changed. A file that cannot be read is an empty one. */
class WatchedFile<T> {
  readonly #path: string
  readonly #parse: (text: string) => T
  #version = ''
  #value: T | undefined = undefined

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path
    this.#parse = parse
  }

  async read(): Promise<T> {
    const version = await stat(this.#path).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
      () => 'absent',
    )
    if (this.#value === undefined || version !== this.#version) {
      this.#value = this.#parse(await readFile(this.#path, 'utf8').catch(() => ''))
      this.#version = version
    }
    return this.#value
  }
}
