// Waits before a request is forwarded, to test the behavior of clients (data-plane supplement section 1.10).
import type { Delay } from '#api/ir/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import { CelDuration } from '#api/cel/values/duration.ts'
import { CelUint } from '#api/cel/values/uint.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { evaluate, FAILED, readsBody } from '../../cel/evaluate.ts'
import type { CompiledPolicy, Verdict } from '../../chain/filter.ts'
import { pause } from '../../exchange/pause.ts'

/** Longer delays count as this one: every waiting request holds a connection. */
const DELAY_MS_MAX = 3_600_000

export function compileDelay(
  { ms, expression }: Delay,
  environment: Pick<ChainEnvironment, 'expression'>,
): CompiledPolicy {
  if (expression === undefined) {
    return ms === undefined || ms <= 0 ? {} : { request: (exchange) => wait(exchange, ms) }
  }
  const compiled = environment.expression(expression)
  return {
    request: (exchange) => {
      const delayMs = evaluateMs(compiled, exchange)
      if (delayMs > 0) return wait(exchange, delayMs)
      exchange.trace?.skip('the delay is not positive')
      return undefined
    },
    readsRequestBody: readsBody([compiled], 'request'),
  }
}

/** The wait counts against the request timeout. */
async function wait(exchange: Exchange, ms: number): Promise<Verdict> {
  const delayMs = Math.min(ms, DELAY_MS_MAX)
  exchange.trace?.note(`delay: ${delayMs} ms`)
  const leftMs = exchange.deadlineMs === undefined ? Infinity : exchange.deadlineMs - performance.now()
  const isInTime = delayMs < leftMs
  if (!(await pause(exchange, isInTime ? delayMs : Math.max(0, leftMs)))) return exchange.response
  return isInTime ? undefined : exchange.fail('requestTimeout')
}

/** A duration or a number of milliseconds; 0 if the expression fails or returns something else. */
function evaluateMs(expression: CelExpression, exchange: Exchange): number {
  const value = evaluate(expression, exchange)
  if (value === FAILED) return 0
  if (value instanceof CelDuration) return value.toMs()
  if (value instanceof CelUint) return Number(value.value)
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' && !Number.isNaN(value) ? value : 0
}
