// Chains of guards: their order, what each of them sees, rejections and failures.
import { describe, expect, it } from 'vitest'
import type { GuardSettings } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../chain/service.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf, expression } from '../../policy/exchange.testing.ts'
import { emptyFacts } from '../usage.ts'
import { type ChainedGuard, compileGuards, responseOf, runGuards } from './chain.ts'
import type { Guard, GuardVerdict } from './guard.ts'
import { spansOf } from './guards.testing.ts'

const REJECTION = { status: 451, body: 'no', headers: [['x-why', 'guard']] } as const

function chained(verdict: (texts: readonly string[]) => GuardVerdict, more: Partial<Guard> = {}): ChainedGuard {
  return {
    guard: {
      name: 'regex',
      failureMode: 'FailClosed',
      check: ({ spans }) => verdict(spans.map(({ text }) => text)),
      ...more,
    },
    rejection: REJECTION,
  }
}

function guarded(): Exchange {
  const exchange = exchangeOf()
  exchange.llm = emptyFacts('openai')
  return exchange
}

const run = (guards: readonly ChainedGuard[], exchange: Exchange, texts: readonly string[] = ['a', 'b']) =>
  runGuards(guards, { phase: 'Request', spans: spansOf(...texts), exchange, upstreamHeaders: undefined })

const mask = (from: string, to: string) =>
  chained((texts) => ({ kind: 'mask', texts: texts.map((text) => text.replace(from, to)), matched: [from] }))
const fail = () => {
  throw new ServiceError('no answer')
}

describe('a chain of guards', () => {
  it('gives each guard the texts that the previous one left', async () => {
    const exchange = guarded()
    expect(await run([mask('a', 'x'), mask('x', 'y')], exchange)).toEqual({ kind: 'passed', texts: ['y', 'b'] })
    expect(exchange.llm?.guards).toEqual([
      { phase: 'Request', guard: 'regex', action: 'Mask', count: 2, matched: new Set(['a', 'x']) },
    ])
  })

  it('ends with the first rejection', async () => {
    const exchange = guarded()
    const reject = chained(() => ({ kind: 'reject', matched: ['Ssn'] }))
    const result = await run([reject, chained(fail)], exchange)
    if (result.kind === 'passed') throw new Error('passed')
    const response = responseOf(exchange, result)
    expect(response).toMatchObject({ status: 451, isLocal: true })
    expect(response.body).toBe('no')
    expect(response.headers.get('x-why')).toBe('guard')
    expect(response.headers.get('content-type')).toBeUndefined()
    expect(exchange).toMatchObject({
      response,
      reason: 'Guardrail',
      errorDetail: 'the prompt guard regex rejected the request (Ssn)',
    })
    expect(exchange.llm?.guards).toMatchObject([{ action: 'Reject' }])
  })

  it('uses the rejection of a guard in place of that of the policy', async () => {
    const own = { status: 418, body: 'own' }
    const result = await run([chained(() => ({ kind: 'reject', rejection: own, matched: [] }))], guarded())
    expect(result).toMatchObject({ kind: 'rejected', rejection: own })
  })

  it('fails if a guard fails, unless its failure mode is FailOpen', async () => {
    const exchange = guarded()
    const result = await run([chained(fail)], exchange)
    if (result.kind === 'passed') throw new Error('passed')
    expect(responseOf(exchange, result)).toMatchObject({ status: 503 })
    expect(exchange).toMatchObject({
      failure: 'promptGuardFailed',
      errorDetail: 'the prompt guard regex failed: no answer',
    })
    expect(exchange.llm?.guards).toMatchObject([{ action: 'FailClosed' }])
    const open = guarded()
    const continued = await run([chained(fail, { failureMode: 'FailOpen' }), mask('a', 'x')], open)
    expect(continued).toEqual({ kind: 'passed', texts: ['x', 'b'] })
    expect(open.llm?.guards?.map(({ action }) => action)).toEqual(['FailOpen', 'Mask'])
  })

  it.each(['FailOpen', 'FailClosed'] as const)(
    'ends with 504 at the timeout of the request (%s)',
    async (failureMode) => {
      const exchange = guarded()
      exchange.deadlineMs = performance.now()
      const result = await run([chained(fail, { failureMode })], exchange)
      if (result.kind === 'passed') throw new Error('passed')
      expect(responseOf(exchange, result).status).toBe(504)
    },
  )

  it('fails if a guard returns another number of texts', async () => {
    const result = await run([chained(() => ({ kind: 'mask', texts: ['x'], matched: [] }))], guarded())
    expect(result).toEqual({
      kind: 'failed',
      detail: 'the prompt guard regex failed: it returned 1 texts in place of 2',
    })
  })

  it('does not call a guard without texts', async () => {
    expect(await run([chained(fail)], guarded(), [])).toEqual({ kind: 'passed', texts: [] })
  })

  it('reports a defect of a guard', async () => {
    const broken = chained(() => {
      throw new TypeError('bug')
    })
    await expect(run([broken], guarded())).rejects.toThrow('bug')
  })
})

describe('compiled guards', () => {
  const rejection = { status: 403, body: 'x' }
  const environment = { expression, service: () => undefined, vendor: () => undefined }
  it('have one guard for each entry, in their order', () => {
    const kinds: GuardSettings[] = [
      { rejection, regex: { action: 'Mask', builtins: ['Ssn'] } },
      { rejection, webhook: { service: { backend: 'b' }, failureMode: 'FailOpen' } },
      { rejection, moderationApi: {} },
      { rejection, guardrailsA: { identifier: 'i', version: '1', region: 'r' } },
      { rejection, guardrailsC: { templateId: 't', projectId: 'p', location: 'l' } },
    ]
    const { request, response, checksStreams } = compileGuards({ request: kinds }, environment)
    expect(request.map(({ guard: { name, failureMode } }) => [name, failureMode])).toEqual([
      ['regex', 'FailClosed'],
      ['webhook', 'FailOpen'],
      ['moderationApi', 'FailClosed'],
      ['guardrailsA', 'FailClosed'],
      ['guardrailsC', 'FailClosed'],
    ])
    expect([response, checksStreams]).toEqual([[], false])
  })

  it('fail without their services', async () => {
    const { request } = compileGuards({ request: [{ rejection, moderationApi: {} }] }, environment)
    expect(await run(request, guarded())).toMatchObject({ kind: 'failed' })
  })
})
