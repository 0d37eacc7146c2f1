// What the fields of all policies are translated with; made once for a snapshot.
import type { KubeObject } from '../kube.ts'
import { refOf } from '../object-ref.ts'
import type { ReferenceScope } from '../reference.ts'
import type { TranslateSettings } from '../translation.ts'
import type { FieldScope } from './field.ts'
import { storedKeySets, type StoredKeySets } from './stored-key-sets.ts'

export interface PolicyScope {
  readonly references: ReferenceScope
  readonly keySets: StoredKeySets
}

/** Routes need a ReferenceGrant to name a backend of another namespace; policies and backends do not. */
export function policyScope(
  references: ReferenceScope,
  { controllerNamespace }: Pick<TranslateSettings, 'controllerNamespace'>,
): PolicyScope {
  return {
    references: { ...references, isPermitted: () => true },
    keySets: storedKeySets(references.snapshot.ConfigMap, controllerNamespace),
  }
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
