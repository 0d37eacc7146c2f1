// What the fields of all policies are translated with.
import type { KubeObject } from '../kube.ts'
import { refOf } from '../object-ref.ts'
import type { ReferenceScope } from '../reference.ts'
import type { FieldScope } from './field.ts'
import type { StoredKeySets } from './stored-key-sets.ts'

export interface PolicyScope {
  /** Asked for references of policies and backends. */
  readonly references: ReferenceScope
  readonly keySets: StoredKeySets
}

export function fieldScope(owner: KubeObject, targetKinds: ReadonlySet<string>, scope: PolicyScope): FieldScope {
  const { snapshot } = scope.references
  return {
    owner: refOf(owner),
    targetKinds,
    secrets: snapshot.Secret,
    configMaps: snapshot.ConfigMap,
    references: scope.references,
    keySets: scope.keySets,
  }
}
