// Resolves the targets of policies for one lookup. Policies with equal targetRefs or selectors share the
// result, so that a thousand of them with one selector read the routes once.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { namespaceOf } from '../object-ref.ts'
import type { TargetLookup } from './target.ts'
import { resolveTargets, type TargetResolution } from './targets.ts'

/** Valid as long as the results of `lookup` stay the same. */
export function targetResolver(lookup: TargetLookup): (policy: GwPolicy) => TargetResolution {
  const known = new Map<string, TargetResolution>()
  return (policy) => {
    const text = targetText(policy)
    const found = known.get(text)
    if (found !== undefined) return found
    const made = resolveTargets(policy, lookup.snapshot, lookup)
    known.set(text, made)
    return made
  }
}

const texts = new WeakMap<GwPolicy, string>()

function targetText(policy: GwPolicy): string {
  const known = texts.get(policy)
  if (known !== undefined) return known
  const { targetRefs, targetSelectors } = policy.spec
  const text = JSON.stringify([namespaceOf(policy), targetRefs, targetSelectors])
  texts.set(policy, text)
  return text
}
