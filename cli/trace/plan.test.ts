import { describe, expect, it } from 'vitest'
import { type TraceFlags, planTrace, splitArguments } from './plan.ts'

const plan = (flags: Partial<TraceFlags>, ...request: string[]) => planWith(flags, undefined, request)
const planWith = (flags: Partial<TraceFlags>, resource: string | undefined, request: readonly string[] = []) =>
  planTrace({ adminAddr: 'localhost:15000', ...flags }, { resource, request })

describe('planTrace', () => {
  it('waits for a request, or sends one', () => {
    const target = { kind: 'local', address: { host: 'localhost', port: 15_000 } }
    expect(plan({ local: true, expression: 'true' })).toEqual({
      kind: 'live',
      target,
      expression: 'true',
      injection: undefined,
    })
    const args = ['http://Shop.example/cart', '-X', 'POST', '-e', 'http://other.example/', 'http://shop.example:80/two']
    expect(plan({ local: true, port: 8080 }, ...args)).toEqual({
      kind: 'live',
      target,
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
    [{ allNamespaces: true }, [], 'name a resource in place of -A'],
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

  it('follows a proxy of a cluster', () => {
    const cluster = { kind: 'cluster', isEverywhere: false, adminPort: 15_000 }
    const web = { kind: 'gateway', name: 'web', namespace: 'shop' }
    expect(planWith({ namespace: 'shop', context: 'dev' }, 'gateway/web')).toMatchObject({
      target: { ...cluster, resource: web, namespace: 'shop', cluster: { context: 'dev' } },
    })
    expect(planWith({}, 'gtw/web.shop')).toMatchObject({ target: { ...cluster, resource: web, namespace: 'shop' } })
    expect(plan({})).toMatchObject({ target: { ...cluster, resource: undefined, namespace: undefined } })
  })

  it.each<[Partial<TraceFlags>, string, string]>([
    [{ local: true }, 'gateway/web', 'omit gateway/web'],
    [{ file: 'x' }, 'gateway/web', 'omit gateway/web'],
    [{}, 'route/web', '"route" is not a kind of resource; use one of gateway, service'],
    [{}, 'gateway/Web', '"Web" is not a name'],
    [{}, 'gateway/', '"" is not a name'],
    [{ namespace: '../x' }, 'gateway/web', '--namespace ../x: is not the name of a namespace'],
  ])('rejects %j %s', (flags, resource, problem) => {
    expect(planWith(flags, resource)).toEqual({ problem: expect.stringContaining(problem) })
  })
})

describe('splitArguments', () => {
  it.each([
    [['gateway/web', 'http://a', '-X', 'POST'], 3, 'gateway/web', ['http://a', '-X', 'POST']],
    [['http://a', '-v'], 2, undefined, ['http://a', '-v']],
    [['http://a'], 0, undefined, ['http://a']],
    [['gateway/web'], 0, 'gateway/web', []],
    [[], 0, undefined, []],
  ])('splits %j with %i after the dashes', (all, count, resource, request) => {
    expect(splitArguments(all, count)).toEqual({ resource, request })
  })

  it('rejects a second resource', () => {
    expect(splitArguments(['gateway/web', 'http://a'], 0)).toEqual({
      problem: 'http://a: pass the URL and the arguments for curl after --',
    })
  })
})
