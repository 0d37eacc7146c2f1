// Key sets that the control plane has fetched and keeps in ConfigMaps of its own namespace. Only read here: translation
// has no network. ConfigMaps of other namespaces never count, or their owners could forge keys.
import type { ConfigMap } from '../kube.ts'
import { namespaceOf } from '../object-ref.ts'
import { compareText } from '../order.ts'
import type { ObjectIndex } from '../snapshot.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { publicKeySet } from '#api/credentials/key-set.ts'

/** The last fetched key set of a request, as text; `requestKey` as in jwks-request.ts. */
export type StoredKeySets = (requestKey: string) => string | undefined

export const STORE_LABEL = 'app.kubernetes.io/component'
export const STORE_LABEL_VALUE = 'jwks-store'
export const STORE_KEY = 'jwks-store'

export interface StoredKeySet {
  readonly requestKey: string
  /** For people who read the store. */
  readonly url: string
  /** RFC 3339 in UTC: the order of the text is the order of time. */
  readonly fetchedAt: string
  readonly jwks: string
}

/** `namespace` undefined: there is no store. */
export function storedKeySets(configMaps: ObjectIndex<ConfigMap>, namespace: string | undefined): StoredKeySets {
  const newest = new Map<string, StoredKeySet>()
  for (const configMap of configMaps.all) {
    if (namespace === undefined || namespaceOf(configMap) !== namespace) continue
    if (configMap.metadata.labels?.[STORE_LABEL] !== STORE_LABEL_VALUE) continue
    const stored = parseStored(configMap.data?.[STORE_KEY] ?? '')
    if (stored === undefined) continue
    const known = newest.get(stored.requestKey)
    if (known === undefined || compareText(known.fetchedAt, stored.fetchedAt) < 0) newest.set(stored.requestKey, stored)
  }
  return (requestKey) => newest.get(requestKey)?.jwks
}

/** undefined: not a stored key set; such an entry counts as missing. */
export function parseStored(text: string): StoredKeySet | undefined {
  const value = parseJson(text)
  if (!isRecord(value)) return undefined
  const { requestKey, url, fetchedAt, jwks } = value
  if (typeof requestKey !== 'string' || typeof url !== 'string') return undefined
  if (typeof fetchedAt !== 'string' || typeof jwks !== 'string') return undefined
  // An older version, or a person, may have stored private members.
  const stored = publicKeySet(jwks)
  return stored && { requestKey, url, fetchedAt, jwks: stored.jwks }
}
