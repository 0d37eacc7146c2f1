// What the fields of all policies are translated with.
import type { FieldPath } from '#api/problem.ts'
import type { Caught, Defects } from '../defects.ts'
import type { KubeObject } from '../kube.ts'
import { refOf } from '../object-ref.ts'
import type { ReferenceScope } from '../service/reference.ts'
import type { FieldScope } from './field.ts'
import type { StoredKeySets } from './stored-key-sets.ts'

export interface PolicyScope {
  /** Asked for references of policies and backends. */
  readonly references: ReferenceScope
  readonly keySets: StoredKeySets
  readonly defects: Defects
}

/** For the code that runs the translators of fields. */
export interface GuardedScope extends FieldScope {
  /** Classifies an error of a translator: a defect of the controller, which is noted, or a fault of the object. */
  readonly caught: (error: unknown, path: FieldPath, what: string) => Caught
}

export function fieldScope(owner: KubeObject, targetKinds: ReadonlySet<string>, scope: PolicyScope): GuardedScope {
  const { snapshot } = scope.references
  return {
    owner: refOf(owner),
    targetKinds,
    secrets: snapshot.Secret,
    configMaps: snapshot.ConfigMap,
    references: scope.references,
    keySets: scope.keySets,
    caught: (error, path, what) => scope.defects.caught(error, { object: owner, path, what }),
  }
}
