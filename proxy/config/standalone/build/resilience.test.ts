// Conditional delays become one expression: what it returns for a request.
import { expect, it } from 'vitest'
import { evaluate } from '../../../cel/evaluate.ts'
import { environmentOf, exchangeOf } from '../../../policy/exchange.testing.ts'
import { renderDelay } from './resilience.ts'

it.each([
  [[{ condition: 'request.method == "GET"', duration: '2s' }], 2000n],
  [[{ condition: 'request.method == "PUT"', duration: '2s' }], 0n],
  [[{ condition: 'request.method == "PUT"', duration: '2s' }, { duration: '10ms' }], 10n],
  [[{ condition: 'true // always', duration: '1 + 1 // two' }, { duration: '10ms' }], 2n],
  [[{ condition: 'request.headers["none"] == "1"', duration: '2s' }, { duration: '10ms' }], 10n],
  [
    [
      { condition: '1 / 0 == 1', duration: '2s' },
      { condition: 'true || false', duration: '3s' },
    ],
    3000n,
  ],
  [[{ duration: '4s' }], 4000n],
  [[{ condition: '"true"', duration: '2s' }], 0n],
])('%j delays a GET request by %s ms', (conditional, ms) => {
  const { expression = '' } = renderDelay({ conditional })
  expect(evaluate(environmentOf().expression(expression), exchangeOf({ method: 'GET' }))).toBe(ms)
})
