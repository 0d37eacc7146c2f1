import { describe, expect, it } from 'vitest'
import { exchangeOf, fieldsOf, runRequest, runResponse, upstreamResponse } from '../exchange.testing.ts'
import { compileRequestHeaderModifier, compileResponseHeaderModifier } from './header-modifiers.ts'

const entry = (name: string, value: string) => ({ name, value })

describe('request', () => {
  it('adds, then sets, then removes', () => {
    const exchange = exchangeOf({ headers: [['a', '1'], ['b', '1'], ['c', '1']] }) // prettier-ignore
    const policy = compileRequestHeaderModifier({
      add: [entry('A', '2'), entry('b', '2'), entry('d', '1')],
      set: [entry('B', '3'), entry('e', '1')],
      remove: ['C', 'd', 'absent'],
    })
    expect(runRequest(policy, exchange)).toBeUndefined()
    expect(fieldsOf(exchange.request.headers)).toEqual(['a: 1', 'b: 3', 'a: 2', 'e: 1'])
  })

  it('changes the authority by host', () => {
    const exchange = exchangeOf()
    runRequest(compileRequestHeaderModifier({ set: [entry('Host', 'Other.org:81')] }), exchange)
    expect(exchange.request.host).toBe('other.org:81')
    expect(exchange.request.headers.has('host')).toBe(false)
    expect(exchange.hasExplicitHost).toBe(false)
    runRequest(compileRequestHeaderModifier({ add: [entry('host', 'bad host')], remove: ['host'] }), exchange)
    expect(exchange.request.host).toBe('other.org:81')
  })

  it.each(['Content-Length', 'transfer-encoding', 'connection', 'trailer'])('never writes %s', (name) => {
    const exchange = exchangeOf()
    runRequest(compileRequestHeaderModifier({ add: [entry(name, '1')], set: [entry(name, '1')] }), exchange)
    expect(fieldsOf(exchange.request.headers)).toEqual([])
  })
})

it('drops values that would break the message, and writes text beyond Latin-1 as UTF-8', () => {
  const exchange = exchangeOf()
  const policy = compileRequestHeaderModifier({
    add: [entry('a', 'x\r\ny: z')],
    set: [entry('b', 'x\n'), entry('c', '\u010a')],
  })
  runRequest(policy, exchange)
  expect(fieldsOf(exchange.request.headers)).toEqual([`c: ${Buffer.from('\u010a').toString('latin1')}`])
})

it('changes responses, and requires one', () => {
  const policy = compileResponseHeaderModifier({ set: [entry('X', '1')], remove: ['server'] })
  const exchange = exchangeOf()
  expect(runResponse(policy, exchange)).toBeUndefined()
  exchange.response = upstreamResponse([['server', 'up']])
  runResponse(policy, exchange)
  expect(fieldsOf(exchange.response.headers)).toEqual(['x: 1'])
})
