// A stored key set as the ConfigMap that translation reads. Pure.
import { createHash } from 'node:crypto'
import type { ConfigMap } from '../translate/kube.ts'
import { STORE_KEY, STORE_LABEL, STORE_LABEL_VALUE, type StoredKeySet } from '../translate/policy/stored-key-sets.ts'

export function storeConfigMap(entry: StoredKeySet, namespace: string): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: storeName(entry.requestKey), namespace, labels: { [STORE_LABEL]: STORE_LABEL_VALUE } },
    data: { [STORE_KEY]: JSON.stringify(entry) },
  }
}

export function storeName(requestKey: string): string {
  return `${STORE_LABEL_VALUE}-${createHash('sha256').update(requestKey).digest('hex')}`
}
