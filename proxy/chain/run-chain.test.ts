import { describe, expect, it } from 'vitest'
import { HttpResponse } from '../message/message.ts'
import type { NamedFilter, Filter } from './filter.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { runChain } from './run-chain.ts'

const ran: string[] = []
const named = (name: string, filter: Filter): NamedFilter => ({
  name,
  filter: (exchange) => {
    ran.push(name)
    return filter(exchange)
  },
})
const pass = named('pass', () => undefined)
const later = named('later', () => Promise.resolve(undefined))
const answer = named('answer', () => HttpResponse.local(204))
const answerLater = named('answerLater', () => Promise.resolve(HttpResponse.local(205)))
const thrower = named('thrower', () => {
  throw new Error('bug')
})
const rejecter = named('rejecter', () => Promise.reject(new Error('late bug')))

async function run(
  filters: NamedFilter[],
  index = 0,
): Promise<{ status: number | undefined; detail: unknown; isSync: boolean }> {
  ran.length = 0
  const exchange = exchangeOf()
  let calls = 0
  await new Promise<void>((resolve) => {
    runChain(filters, exchange, index, () => {
      calls++
      resolve()
    })
    ran.push(`sync ${calls}`)
  })
  expect(calls).toBe(1)
  return { status: exchange.response?.status, detail: exchange.errorDetail, isSync: ran.includes('sync 1') }
}

describe('runChain', () => {
  it.each([
    ['nothing', [], undefined, undefined, ['sync 1']],
    ['all that pass', [pass, pass], undefined, undefined, ['pass', 'pass', 'sync 1']],
    ['an answer', [pass, answer, pass], 204, undefined, ['pass', 'answer', 'sync 1']],
    ['a wait', [pass, later, pass], undefined, undefined, ['pass', 'later', 'sync 0', 'pass']],
    ['an answer after a wait', [later, answer, pass], 204, undefined, ['later', 'sync 0', 'answer']],
    ['a late answer', [answerLater, pass], 205, undefined, ['answerLater', 'sync 0']],
    ['a bug', [thrower, pass], 503, 'thrower: Error: bug', ['thrower', 'sync 1']],
    ['a late bug', [rejecter, pass], 503, 'rejecter: Error: late bug', ['rejecter', 'sync 0']],
  ])('%s', async (_name, filters, status, detail, order) => {
    const result = await run(filters)
    expect([result.status, result.detail]).toEqual([status, detail])
    expect(ran).toEqual(order)
  })

  it('starts at the given index', async () => {
    await run([answer, pass], 1)
    expect(ran).toEqual(['pass', 'sync 1'])
  })
})
