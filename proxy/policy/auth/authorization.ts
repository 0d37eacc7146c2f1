// Authorization rules (data-plane supplement section 8.3). One compiled policy holds the rules of all levels.
import type { CelExpression } from '#api/cel/expression.ts'
import type { Authorization } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { RequestTrace, TracedRule } from '../../exchange/request-trace.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { isTrueOrUnknown } from '../../cel/deny.ts'
import { isTrue, readsBody } from '../../cel/evaluate.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'

/** All must be true for the rule to match. */
type Rule = readonly CelExpression[]

export function compileAuthorization(
  rules: readonly Authorization[],
  environment: Pick<ChainEnvironment, 'expression'>,
): CompiledPolicy {
  const isAllowed = compileRules(rules, environment)
  return {
    request: (exchange) => (isAllowed(exchange) ? undefined : exchange.fail('authorizationFailed')),
    readsRequestBody: readsBody(
      rules.flatMap(({ matchExpressions }) => matchExpressions.map((source) => environment.expression(source))),
      'request',
    ),
  }
}

/** Also for rules that do not return 403, such as those of MCP. */
export function compileRules(
  rules: readonly Authorization[],
  environment: Pick<ChainEnvironment, 'expression'>,
): (exchange: Exchange) => boolean {
  const compiled = (action: Authorization['action']): Rule[] =>
    rules
      .filter((rule) => rule.action === action)
      .map(({ matchExpressions }) => matchExpressions.map((source) => environment.expression(source)))
  const deny = compiled('Deny')
  const require = compiled('Require')
  const allow = compiled('Allow')
  return (exchange) => {
    if (exchange.trace !== undefined) return isAllowedTraced({ deny, require, allow }, exchange, exchange.trace)
    for (const rule of deny) if (denies(rule, exchange)) return false
    for (const rule of require) if (!matches(rule, exchange)) return false
    if (allow.length === 0) return true
    for (const rule of allow) if (matches(rule, exchange)) return true
    return false
  }
}

/** Its expressions, all of which must be true. */
function nameOf(rule: Rule): string {
  const sources = rule.map(({ source }) => source)
  return sources.length === 1 ? sources.join('') : sources.map((source) => `(${source})`).join(' && ')
}

/** The verdict of all rules; each evaluated rule is added to the trace. */
function isAllowedTraced(
  { deny, require, allow }: Readonly<Record<'deny' | 'require' | 'allow', readonly Rule[]>>,
  exchange: Exchange,
  trace: RequestTrace<Exchange>,
): boolean {
  const tested = (rules: readonly Rule[], mode: TracedRule['mode'], test = matches): TracedRule[] =>
    rules.map((rule) => ({
      name: nameOf(rule),
      matched: test(rule, exchange),
      mode,
    }))
  const denied = tested(deny, 'deny', denies)
  const required = tested(require, 'require')
  const allowed = tested(allow, 'allow')
  const isAllowed =
    !denied.some(({ matched }) => matched) &&
    required.every(({ matched }) => matched) &&
    (allowed.length === 0 || allowed.some(({ matched }) => matched))
  trace.authorization([...denied, ...required, ...allowed], isAllowed)
  return isAllowed
}

/** An unknown value counts as true. */
function denies(rule: Rule, exchange: Exchange): boolean {
  for (const expression of rule) if (!isTrueOrUnknown(expression, exchange)) return false
  return true
}

function matches(rule: Rule, exchange: Exchange): boolean {
  for (const expression of rule) if (!isTrue(expression, exchange)) return false
  return true
}
