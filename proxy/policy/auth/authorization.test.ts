import { describe, expect, it } from 'vitest'
import type { Authorization } from '#api/ir/types.gen.ts'
import { compileAuthorization } from './authorization.ts'
import { environmentOf, exchangeOf, runRequest } from '../exchange.testing.ts'

const allow = (...matchExpressions: string[]): Authorization => ({ action: 'Allow', matchExpressions })
const deny = (...matchExpressions: string[]): Authorization => ({ action: 'Deny', matchExpressions })
const require = (...matchExpressions: string[]): Authorization => ({ action: 'Require', matchExpressions })

const T = 'request.method == "GET"'
const F = 'request.method == "PUT"'
/** Fails at run time. */
const E = 'request.headers["absent"] == "x"'
/** Does not compile. */
const BROKEN = 'request.method =='
const NUMBER = '1'

describe('rules', () => {
  it.each<[string, Authorization[], boolean]>([
    ['none', [], true],
    ['allow true', [allow(T)], true],
    ['allow false', [allow(F)], false],
    ['allow failing', [allow(E)], false],
    ['allow broken', [allow(BROKEN)], false],
    ['allow that is not a boolean', [allow(NUMBER)], false],
    ['one of several allows', [allow(F), allow(E), allow(T)], true],
    ['all expressions of an allow', [allow(T, T)], true],
    ['one false expression of an allow', [allow(T, F)], false],
    ['deny true', [deny(T)], false],
    ['deny false', [deny(F)], true],
    ['deny failing does not deny', [deny(E)], true],
    ['deny broken does not deny', [deny(BROKEN)], true],
    ['deny needs all expressions', [deny(T, F)], true],
    ['deny beats allow', [allow(T), deny(T)], false],
    ['require true', [require(T)], true],
    ['require false', [require(F)], false],
    ['require failing', [require(E)], false],
    ['require broken', [require(BROKEN)], false],
    ['every require', [require(T), require(F)], false],
    ['require and no allow that matches', [require(T), allow(F)], false],
    ['require false beats allow', [require(F), allow(T)], false],
    ['require and allow', [require(T), allow(F), allow(T)], true],
  ])('%s', (_name, rules, isAllowed) => {
    const exchange = exchangeOf()
    const response = runRequest(compileAuthorization(rules, environmentOf()), exchange)
    expect(response?.status).toBe(isAllowed ? undefined : 403)
    if (!isAllowed) {
      expect(response?.body).toBe('authorization failed')
      expect(exchange.reason).toBe('Authorization')
    }
  })

  it('returns a gRPC status to gRPC clients', () => {
    const exchange = exchangeOf({ headers: [['content-type', 'application/grpc']] })
    const response = runRequest(compileAuthorization([deny(T)], environmentOf()), exchange)
    expect(response?.status).toBe(200)
    expect(response?.headers.get('grpc-status')).toBe('7')
  })

  it('reads the body only if an expression does', () => {
    const policy = compileAuthorization([allow('string(request.body) == "yes"')], environmentOf())
    expect(policy.readsRequestBody).toBe(true)
    expect(runRequest(policy, exchangeOf({ body: 'yes' }))).toBeUndefined()
    expect(runRequest(policy, exchangeOf({ body: 'no' }))?.status).toBe(403)
    expect(runRequest(policy, exchangeOf())?.status).toBe(403)
    expect(compileAuthorization([allow(T)], environmentOf()).readsRequestBody).toBe(false)
    expect(compileAuthorization([allow('variables().size() > 0')], environmentOf()).readsRequestBody).toBe(true)
  })
})
