import { describe, expect, it } from 'vitest'
import { type TraceFlags, planTrace } from './plan.ts'

const plan = (flags: Partial<TraceFlags>, ...request: string[]) =>
  planTrace({ adminAddr: 'localhost:15000', ...flags }, request)

describe('planTrace', () => {
  it('waits for a request, or sends one', () => {
    const admin = expect.objectContaining({ label: 'localhost:15000' })
    expect(plan({ local: true, expression: 'true' })).toEqual({
      kind: 'live',
      admin,
      expression: 'true',
      injection: undefined,
    })
    const args = ['http://Shop.example/cart', '-X', 'POST', '-e', 'http://other.example/', 'http://shop.example:80/two']
    expect(plan({ local: true, port: 8080 }, ...args)).toEqual({
      kind: 'live',
      admin,
      expression: undefined,
      injection: { args, authority: 'shop.example:80', port: 8080 },
    })
    expect(plan({ file: '-' })).toEqual({ kind: 'file', file: '-' })
  })

  it.each([
    ['https://a.example', 'a.example:443'],
    ['http://a.example:8080/x', 'a.example:8080'],
    ['http://[::1]:8080/x', '[::1]:8080'],
  ])('finds host and port of %s', (url, authority) => {
    expect(plan({ local: true, port: 1 }, url)).toMatchObject({ injection: { authority } })
  })

  it.each<[Partial<TraceFlags>, string[], string]>([
    [{}, [], 'pass --local'],
    [{ local: true, adminAddr: '15000' }, [], '--admin-addr 15000: must be host:port'],
    [{ local: true, adminAddr: 'a:65536' }, [], 'must be host:port'],
    [{ local: true, port: 8080 }, [], '--port requires a request to send'],
    [{ local: true }, ['http://a'], 'requires --port'],
    [{ local: true, port: 1 }, ['-X', 'http://a'], '-X: the first argument after -- must be'],
    [{ local: true, port: 1 }, ['http://'], 'http://: is not a URL'],
    [{ local: true, port: 1 }, ['http://a', 'http://b'], 'the same host and port: a:80, b:80'],
    [{ file: 'x', local: true }, [], 'omit --local'],
    [{ file: 'x', expression: 'true' }, [], 'omit --expression'],
    [{ file: 'x', port: 1 }, [], 'omit --port'],
    [{ file: 'x' }, ['http://a'], 'omit --port and the URL'],
  ])('rejects %j %j', (flags, request, problem) => {
    expect(plan(flags, ...request)).toEqual({ problem: expect.stringContaining(problem) })
  })
})
