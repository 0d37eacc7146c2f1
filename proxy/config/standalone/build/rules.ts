// Rules of authorization and mcpAuthorization: an expression without an action allows.
import type { Authorization } from '#api/ir/types.gen.ts'
import { readsOf } from '#api/cel/compile.ts'
import { optionalReads } from '#api/cel/optional-reads.ts'
import { pathTo } from '../field-path.ts'
import type { BuildContext } from './context.ts'
import type { Rules } from '../schema/policies.ts'

/** `path`: of the policy. */
export function renderRules(policy: Rules | undefined, path: string, context: BuildContext): Authorization[] {
  return (policy?.rules ?? []).map((rule, index) => {
    if (typeof rule === 'string') return { action: 'Allow', matchExpressions: [rule] }
    const { allow, deny, require } = rule
    if (deny !== undefined) warnOfOptionalReads(deny, pathTo(path, 'rules', index, 'deny'), context)
    if (deny !== undefined) return { action: 'Deny', matchExpressions: [deny] }
    if (require !== undefined) return { action: 'Require', matchExpressions: [require] }
    // The schema requires exactly one of the three. Without any, nothing would match.
    return { action: 'Allow', matchExpressions: [allow ?? 'false'] }
  })
}

/** A rule that fails does not deny. */
function warnOfOptionalReads(text: string, path: string, context: BuildContext): void {
  const found = readsOf(text, context.functions)
  if ('problem' in found) return
  for (const { message } of optionalReads(text, found, [found])) context.warn(path, message)
}
