// Names of cipher suites and key exchange groups: API names and OpenSSL names.
import tls from 'node:tls'
import type { KeyExchangeGroup } from '#api/ir/types.gen.ts'

const CIPHERS: ReadonlyMap<string, string> = new Map([
  ['TLS13_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
  ['TLS13_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ['TLS13_CHACHA20_POLY1305_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
])

const GROUPS: { readonly [G in KeyExchangeGroup]: string } = {
  X25519: 'X25519',
  'P-256': 'P-256',
  'P-384': 'P-384',
  X25519_MLKEM768: 'X25519MLKEM768',
}

export interface OpenSslNames {
  /** Colon-separated, in the order of the configuration; undefined without names, empty if all names are unknown. */
  readonly list: string | undefined
  /** Names that this runtime does not support. */
  readonly unknown: readonly string[]
}

export function cipherList(suites: readonly string[] | undefined): OpenSslNames {
  return translated(suites, (suite) => CIPHERS.get(suite))
}

export function groupList(groups: readonly KeyExchangeGroup[] | undefined): OpenSslNames {
  return translated(groups, (group) => (hasGroup(GROUPS[group]) ? GROUPS[group] : undefined))
}

function translated<T extends string>(
  names: readonly T[] | undefined,
  toOpenSsl: (name: T) => string | undefined,
): OpenSslNames {
  if (names === undefined) return { list: undefined, unknown: [] }
  const known = names.map(toOpenSsl)
  return {
    list: known.filter((name) => name !== undefined).join(':'),
    unknown: names.filter((_, index) => known[index] === undefined),
  }
}

const groupsOfRuntime = new Map<string, boolean>()

/** Whether the OpenSSL of this process supports the group; checked once for each of the four groups. */
function hasGroup(name: string): boolean {
  const known = groupsOfRuntime.get(name)
  if (known !== undefined) return known
  let isThere = true
  try {
    tls.createSecureContext({ ecdhCurve: name })
  } catch {
    isThere = false
  }
  groupsOfRuntime.set(name, isThere)
  return isThere
}
