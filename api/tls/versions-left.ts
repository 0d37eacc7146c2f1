// Which TLS versions a policy allows. Checks only names: the proxy checks which of them its OpenSSL supports.

export type TlsVersion = '1.2' | '1.3'

export interface HandshakeLimits {
  readonly minProtocolVersion?: TlsVersion | undefined
  readonly maxProtocolVersion?: TlsVersion | undefined
  readonly cipherSuites?: readonly string[] | undefined
  readonly keyExchangeGroups?: readonly string[] | undefined
}

export interface VersionsLeft {
  readonly min: TlsVersion
  readonly max: TlsVersion
}

/** The field that leaves no version, with the correction. */
export interface NothingLeft {
  readonly field: 'minProtocolVersion' | 'cipherSuites' | 'keyExchangeGroups'
  readonly message: string
}

/** Key exchange groups that TLS 1.2 does not have. */
const ONLY_13: ReadonlySet<string> = new Set(['X25519_MLKEM768'])

export function versionsLeft(limits: HandshakeLimits): VersionsLeft | NothingLeft {
  const {
    minProtocolVersion: lowest = '1.2',
    maxProtocolVersion: highest = '1.3',
    cipherSuites,
    keyExchangeGroups,
  } = limits
  if (lowest > highest) return nothing('minProtocolVersion', 'minProtocolVersion is above maxProtocolVersion')
  const { min, max } = within({ min: lowest, max: highest }, versionsOf(cipherSuites))
  if (min > max)
    return nothing('cipherSuites', `no cipher suite supports TLS ${lowest}, which the version fields require; add one`)
  const needs13 = keyExchangeGroups !== undefined && keyExchangeGroups.every((group) => ONLY_13.has(group))
  if (needs13 && max === '1.2') {
    const named = keyExchangeGroups.join(', ')
    return nothing('keyExchangeGroups', `${named} requires TLS 1.3, which the other fields exclude; add another group`)
  }
  return { min: needs13 ? '1.3' : min, max }
}

/** A list of suites for one version excludes the other: OpenSSL would use its own suites there. */
function versionsOf(suites: readonly string[] | undefined): VersionsLeft {
  if (suites === undefined) return { min: '1.2', max: '1.3' }
  const has13 = suites.some((suite) => suite.startsWith('TLS13_'))
  const has12 = suites.some((suite) => !suite.startsWith('TLS13_'))
  return { min: has12 ? '1.2' : '1.3', max: has13 ? '1.3' : '1.2' }
}

function within(one: VersionsLeft, other: VersionsLeft): VersionsLeft {
  return { min: one.min > other.min ? one.min : other.min, max: one.max < other.max ? one.max : other.max }
}

function nothing(field: NothingLeft['field'], reason: string): NothingLeft {
  return { field, message: `no client can connect: ${reason}` }
}
