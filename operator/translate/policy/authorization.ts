// traffic.authorization, and the rule that backend.mcp.authorization shares with it. Rules of all policies are kept.
import type { Authorization as RenderedAuthorization, Deny, TrafficPayload } from '#api/ir/types.gen.ts'
import { readsOf } from '#api/cel/compile.ts'
import { optionalReads } from '#api/cel/optional-reads.ts'
import type { FieldPath } from '#api/problem.ts'
import type { Authorization } from '#api/v1alpha1/shared.gen.ts'
import { checkExpression } from './expression.ts'
import { denyBroken, type Emission, type FieldContext, type FieldTranslator } from './field.ts'

/** An invalid expression never matches: Allow and Require then reject by themselves; a Deny rule becomes a denial. */
export const authorization: FieldTranslator<Authorization, TrafficPayload> = {
  failureMode: 'deny',
  translate: (value, context) => [
    { suffix: 'rbac', accumulates: true, payload: { authorization: renderAuthorization(value) } },
    ...authorizationDenials(value, context, 'rbac-deny'),
  ],
}

export function renderAuthorization({ action = 'Allow', policy }: Authorization): RenderedAuthorization {
  return { action, matchExpressions: [...policy.matchExpressions] }
}

/** Reports invalid expressions; a Deny rule with one could never match, so it rejects every request instead. */
export function authorizationDenials(
  { action, policy }: Authorization,
  context: FieldContext,
  suffix: string,
): ReadonlyArray<Emission<{ deny: Deny }>> {
  const path = `${context.path}.policy.matchExpressions`
  const results = policy.matchExpressions.map((text, index) => checkExpression(text, `${path}[${index}]`, context))
  if (action !== 'Deny') return []
  warnOfOptionalReads(policy.matchExpressions, path, context)
  if (results.every(Boolean)) return []
  const message = `${context.field}: a Deny rule with an invalid expression never matches; the traffic it covers is rejected`
  return [{ ...denyBroken(context, suffix, { path, reason: 'InvalidExpression', message }), accumulates: true }]
}

/** A rule that fails does not deny, and clients can cause that by leaving a header out. */
function warnOfOptionalReads(expressions: readonly string[], path: FieldPath, context: FieldContext): void {
  const all = expressions.map((text) => ({ text, found: readsOf(text) }))
  const reads = all.flatMap(({ found }) => ('problem' in found ? [] : [found]))
  for (const [index, { text, found }] of all.entries()) {
    if ('problem' in found) continue
    for (const { message } of optionalReads(text, found, reads)) {
      context.report.problems.push({
        path: `${path}[${index}]`,
        reason: 'DenyRuleMayFail',
        message: `${context.field}: Deny rule at ${path}[${index}]: ${message}`,
        severity: 'warning',
      })
    }
  }
}
