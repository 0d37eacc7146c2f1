// Rules of authorization and mcpAuthorization: a bare expression allows.
import type { Authorization } from '#api/ir/types.gen.ts'
import type { Rules } from '../schema/policies.ts'

export function renderRules({ rules }: Rules): Authorization[] {
  return rules.map((rule) => {
    if (typeof rule === 'string') return { action: 'Allow', matchExpressions: [rule] }
    const { allow, deny, require } = rule
    if (deny !== undefined) return { action: 'Deny', matchExpressions: [deny] }
    if (require !== undefined) return { action: 'Require', matchExpressions: [require] }
    // The schema asks for exactly one of the three. Without any, nothing would match.
    return { action: 'Allow', matchExpressions: [allow ?? 'false'] }
  })
}
