// The objects a GwPolicy names, by reference or by label, and the Gateways at which each of them counts.
import type { GwPolicy, PolicyTargetRef } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { KubeObject } from '../kube.ts'
import { matchesLabels } from '../labels.ts'
import { namespaceOf } from '../object-ref.ts'
import type { Snapshot } from '../snapshot.ts'
import { type ResolvedTarget, TARGET_KINDS, type TargetKind, type TargetLookup } from './target.ts'
import { resolveTarget, type Unattached } from './target-kinds.ts'

export interface TargetResolution {
  readonly targets: readonly ResolvedTarget[]
  readonly unattached: readonly UnattachedTarget[]
}

/** A target that is missing or reaches no Gateway. */
export interface UnattachedTarget {
  readonly path: string
  /** A line of the StatusSummary. */
  readonly message: string
}

/** What a policy names: policies with equal queries have the same targets. */
export interface TargetQuery extends Pick<GwPolicy['spec'], 'targetRefs' | 'targetSelectors'> {
  readonly namespace: string
}

export function resolveTargets(query: TargetQuery, lookup: TargetLookup): TargetResolution {
  const { namespace } = query
  const { refs, missing } = namedTargets(query, lookup.snapshot)
  const byKey = new Map<string, ResolvedTarget>()
  const unattached: UnattachedTarget[] = [...missing]
  for (const { path, ...ref } of refs) {
    const kind = targetKind(ref)
    if (kind === undefined) {
      const message = `${ref.kind} ${namespace}/${ref.name} has a kind that this version cannot attach policies to`
      unattached.push({ path, message })
      continue
    }
    const outcome = resolveTarget({ ...ref, kind }, namespace, lookup)
    if (outcome === 'foreign') continue
    if ('unattached' in outcome) unattached.push(unattachedAt(path, outcome))
    else byKey.set(outcome.key, outcome)
  }
  const first = new Map(unattached.toReversed().map((one) => [one.message, one]))
  return {
    targets: [...byKey.values()],
    unattached: unattached.filter((one) => first.get(one.message) === one),
  }
}

/** For a missing part the message names the field; for a missing object it names the object. */
function unattachedAt(path: string, { unattached, field }: Unattached): UnattachedTarget {
  if (field === undefined) return { path, message: unattached }
  const at = `${path}.${field}`
  return { path: at, message: `${unattached}; see ${at}` }
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

interface NamedTargets {
  readonly refs: ReadonlyArray<PolicyTargetRef & { readonly path: string }>
  readonly missing: readonly UnattachedTarget[]
}

function namedTargets({ namespace, targetRefs, targetSelectors }: TargetQuery, snapshot: Snapshot): NamedTargets {
  const refs = (targetRefs ?? []).map((ref, at) => ({ ...ref, path: `spec.targetRefs[${at}]` }))
  const missing: UnattachedTarget[] = []
  for (const [at, { matchLabels, ...rest }] of (targetSelectors ?? []).entries()) {
    const path = `spec.targetSelectors[${at}]`
    const kind = targetKind(rest)
    const objects: readonly KubeObject[] = kind === undefined ? [] : snapshot[kind].all
    const found = objects.filter(
      (object) => namespaceOf(object) === namespace && matchesLabels(matchLabels, object.metadata.labels),
    )
    if (found.length === 0) {
      missing.push({ path, message: `no ${rest.kind} matching selector found in namespace ${namespace}` })
    }
    refs.push(...found.map((object) => ({ ...rest, name: object.metadata.name, path })))
  }
  return { refs, missing }
}
