// Conditional policies: the first entry whose condition is true runs; an error counts as false, no condition as true.
// The choice is made once, on the request, and applies to the response too (data-plane supplement section 1.4).
import type { CelExpression } from '#api/cel/expression.ts'
import { isOutOfSteps, OUT_OF_STEPS } from '../cel/budget.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ChainEnvironment } from './environment.ts'
import { isTrue, readsBody } from '../cel/evaluate.ts'
import type { CompiledPolicy } from './filter.ts'

export interface ConditionalEntry<P> {
  readonly condition?: string
  readonly policy: P
}

export function compileConditional<P>(
  entries: readonly ConditionalEntry<P>[],
  environment: Pick<ChainEnvironment, 'expression'>,
  compile: (policy: P) => CompiledPolicy,
): CompiledPolicy {
  const compiled = entries.map(({ condition, policy }) => ({
    condition: condition === undefined ? undefined : environment.expression(condition),
    policy: compile(policy),
  }))
  const hasResponse = compiled.some(({ policy }) => policy.response !== undefined)
  const hasFinished = compiled.some(({ policy }) => policy.finished !== undefined)
  const key = compiled
  const conditions = compiled.map(({ condition }) => condition)
  return {
    request: (exchange) => {
      const chosen = choose(compiled, exchange)
      // It is unknown which policy applies, and it may be one that rejects.
      if (isOutOfSteps(exchange)) return exchange.fail('policyDenied', OUT_OF_STEPS)
      if (chosen !== undefined && (hasResponse || hasFinished)) (exchange.policyState ??= new Map()).set(key, chosen)
      return chosen?.request?.(exchange)
    },
    ...(hasResponse ? { response: (exchange) => chosenBefore(exchange, key)?.response?.(exchange) } : {}),
    ...(hasFinished ? { finished: (exchange) => chosenBefore(exchange, key)?.finished?.(exchange) } : {}),
    readsRequestBody:
      readsBody(conditions, 'request') || compiled.some(({ policy }) => policy.readsRequestBody === true),
    readsResponseBody: compiled.some(({ policy }) => policy.readsResponseBody === true),
  }
}

function choose(
  entries: readonly { readonly condition: CelExpression | undefined; readonly policy: CompiledPolicy }[],
  exchange: Exchange,
): CompiledPolicy | undefined {
  for (const [index, { condition, policy }] of entries.entries()) {
    if (condition !== undefined && !isTrue(condition, exchange)) continue
    exchange.trace?.note(`conditional[${index}]: ${condition?.source ?? 'for all others'}`)
    return policy
  }
  exchange.trace?.skip('no condition is true')
  return undefined
}

/** undefined: no entry was selected, or the request ended earlier. */
function chosenBefore(exchange: Exchange, key: object): CompiledPolicy | undefined {
  // Only `request` above writes under this key, and it writes compiled policies.
  return exchange.policyState?.get(key) as CompiledPolicy | undefined
}
