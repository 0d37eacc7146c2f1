// The objects a GwPolicy names, by reference or by label, and the Gateways at which each of them counts.
import type { GwPolicy, PolicyTargetRef } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { KubeObject } from '../kube.ts'
import { matchesLabels } from '../labels.ts'
import { namespaceOf } from '../object-ref.ts'
import type { Snapshot } from '../snapshot.ts'
import { type ResolvedTarget, TARGET_KINDS, type TargetKind, type TargetLookup } from './target.ts'
import { resolveTarget } from './target-kinds.ts'

export interface TargetResolution {
  readonly targets: readonly ResolvedTarget[]
  /** Lines for the StatusSummary: targets that are missing or reach no Gateway. */
  readonly unattached: readonly string[]
}

export function resolveTargets(policy: GwPolicy, snapshot: Snapshot, lookup: TargetLookup): TargetResolution {
  const namespace = namespaceOf(policy)
  const { refs, missing } = namedTargets(policy, snapshot)
  const byKey = new Map<string, ResolvedTarget>()
  const unattached: string[] = [...missing]
  for (const ref of refs) {
    const kind = targetKind(ref)
    if (kind === undefined) {
      unattached.push(`${ref.kind} ${namespace}/${ref.name} is of a kind that this version cannot attach policies to`)
      continue
    }
    const outcome = resolveTarget({ ...ref, kind }, namespace, lookup)
    if (outcome === 'foreign') continue
    if ('unattached' in outcome) unattached.push(outcome.unattached)
    else byKey.set(outcome.key, outcome)
  }
  return {
    targets: [...byKey.values()],
    unattached: [...new Set(unattached)],
  }
}

export function targetKinds({ spec: { targetRefs = [], targetSelectors = [] } }: GwPolicy): ReadonlySet<string> {
  return new Set([...targetRefs, ...targetSelectors].map(({ kind }) => kind))
}

export function targetKind({ group, kind }: { readonly group: string; readonly kind: string }): TargetKind | undefined {
  const kinds: readonly TargetKind[] = Object.hasOwn(TARGET_KINDS, group)
    ? // hasOwn above makes the group a key of the table.
      TARGET_KINDS[group as keyof typeof TARGET_KINDS]
    : []
  return kinds.find((one) => one === kind)
}

function namedTargets(policy: GwPolicy, snapshot: Snapshot): { refs: PolicyTargetRef[]; missing: string[] } {
  const refs: PolicyTargetRef[] = [...(policy.spec.targetRefs ?? [])]
  const missing: string[] = []
  const namespace = namespaceOf(policy)
  for (const { matchLabels, ...rest } of policy.spec.targetSelectors ?? []) {
    const kind = targetKind(rest)
    const objects: readonly KubeObject[] = kind === undefined ? [] : snapshot[kind].all
    const found = objects.filter(
      (object) => namespaceOf(object) === namespace && matchesLabels(matchLabels, object.metadata.labels),
    )
    if (found.length === 0) missing.push(`no ${rest.kind} matching selector found in namespace ${namespace}`)
    refs.push(...found.map((object) => ({ ...rest, name: object.metadata.name })))
  }
  return { refs, missing }
}
