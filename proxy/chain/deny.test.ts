import { expect, it } from 'vitest'
import type { Exchange } from '../exchange/exchange.ts'
import { compileDeny } from './deny.ts'

/** What the exchange is refused with. */
function refusalOf(isBackendTls: boolean | undefined): unknown[] {
  const calls: unknown[] = []
  // Only what the filter uses.
  const exchange = { fail: (...call: unknown[]) => void calls.push(...call) } as unknown as Exchange
  const deny = {
    field: 'spec.validation',
    message: 'no certificate',
    ...(isBackendTls !== undefined && { isBackendTls }),
  }
  void compileDeny(deny).request?.(exchange)
  return calls
}

it.each([
  [undefined, 'policyDenied'],
  [false, 'policyDenied'],
  [true, 'backendTlsInvalid'],
])('isBackendTls %s: %s', (isBackendTls, code) => {
  expect(refusalOf(isBackendTls)).toEqual([code, 'spec.validation: no certificate'])
})
