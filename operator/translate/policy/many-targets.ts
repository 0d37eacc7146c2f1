// One emission of a policy on its targets at a Gateway: one rendered policy for each target, or, where there are many,
// one for each group of targets, so that the payload is not repeated for every route that a selector finds. Groups
// follow from the names of their targets: another target changes one small group.
import type { Policy } from '#api/ir/types.gen.ts'
import type { ResolvedTarget } from './target.ts'

/** Up to this number targets are rendered one by one. */
const SINGLE_MAX = 16
/** Approximate size of a group. */
const GROUP_TARGETS = 32
const DIGITS = 36

/** `keyOf`: the key of the policy, with the text for its targets. */
export function renderTargets(
  targets: readonly ResolvedTarget[],
  { name, ...policy }: Omit<Policy, 'key' | 'target'>,
  keyOf: (targets: string) => string,
): Policy[] {
  if (targets.length <= SINGLE_MAX) {
    return targets.map(({ keySuffix, target }) => ({ key: keyOf(keySuffix), name, target, ...policy }))
  }
  const count = 2 ** Math.ceil(Math.log2(targets.length / GROUP_TARGETS))
  const groups = Map.groupBy(targets, ({ key }) => hashOf(key) % count)
  return [...groups].map(([group, members]) => ({
    // No name of an object has an asterisk.
    key: keyOf(`*/${group.toString(DIGITS)}.${count.toString(DIGITS)}`),
    name,
    target: { several: members.map(({ target }) => target) },
    ...policy,
  }))
}

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = FNV_OFFSET
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash >>> 0
}
