// What the kinds of backends share while one GwBackend is translated.
import type { Backend, BackendPayload, BackendReference } from '#api/ir/types.gen.ts'
import type { Problem } from '#api/problem.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import type { FieldReport } from '../policy/field.ts'
import type { GuardedScope } from '../policy/scope.ts'
import type { ReferenceScope, ReferenceSource } from '../service/reference.ts'

/** What the kinds of backends need while they are translated. */
export interface BackendContext {
  readonly backend: GwBackend
  readonly source: ReferenceSource
  readonly references: ReferenceScope
  readonly scope: GuardedScope
  readonly report: FieldReport
  /** Of the object without its inline policies. */
  readonly faults: readonly Problem[]
  /** They need no second check. */
  readonly hasSoundPolicies: boolean
}

/** The part that depends on the kind of backend. */
export interface BackendBody {
  readonly fields: Pick<Backend, 'static' | 'a2a' | 'dynamic' | 'ai' | 'mcp' | 'agentCore'>
  readonly parts: readonly Backend[]
  readonly refs: readonly BackendReference[]
}

export function isBroken({ problems }: FieldReport): boolean {
  return problems.some(({ severity }) => severity === 'error')
}

export function withPolicies(inlinePolicies: BackendPayload | undefined): { inlinePolicies?: BackendPayload } {
  return inlinePolicies === undefined ? {} : { inlinePolicies }
}
