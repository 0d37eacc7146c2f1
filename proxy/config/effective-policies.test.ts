import { describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import type { Policy, PolicyTarget, RenderedConfig } from '#api/ir/types.gen.ts'
import { configFor, type TestProxyOptions } from '../main.testing.ts'
import { effectivePolicies } from './effective-policies.ts'

type Field = components['schemas']['EffectiveField']

const GATEWAY: PolicyTarget = { gateway: { namespace: 'ns', name: 'gw' } }
const ROUTE: PolicyTarget = { route: { kind: 'HTTPRoute', namespace: 'ns', name: 'a' } }
const BACKEND: PolicyTarget = { backend: { namespace: 'ns', name: 'a' } }
const HOST = { static: { host: '127.0.0.1', port: 9 } }

function policy(key: string, target: PolicyTarget, own: Policy['policy'], rest: Partial<Policy> = {}): Policy {
  return { key, name: { kind: 'GwPolicy', namespace: 'ns', name: key }, target, policy: own, ...rest }
}

type Overrides = Pick<TestProxyOptions, 'change'> & Partial<TestProxyOptions['routes'][number]>

/** Of the rule `ns/a.00.http`. */
function effective(policies: readonly Policy[], { change, ...route }: Overrides = {}) {
  const options: TestProxyOptions = { routes: [{ name: 'a', prefix: '/', backend: HOST, ...route }], policies }
  const config = configFor(80, change === undefined ? options : { ...options, change })
  const found = effectivePolicies(config, 'ns/a.00.http')
  if (found === undefined) throw new Error('the rule was not found')
  return found
}

/** `field: sources (overridden)`. */
function outline(fields: readonly Field[] = []): string[] {
  const list = (sources: Field['sources']): string => sources.map(({ kind, key }) => `${kind} ${key}`).join(', ')
  return fields.map(({ field, sources, overridden }) => `${field}: ${list(sources)} (${list(overridden)})`)
}

describe('effectivePolicies', () => {
  it('names the source of each field, and the less specific places that set it', () => {
    const { route } = effective(
      [
        policy('of-gateway', GATEWAY, { traffic: { timeouts: { requestMs: 1 }, cors: { maxAgeSeconds: 5 } } }),
        policy('of-route', ROUTE, { traffic: { timeouts: { requestMs: 2 } } }),
      ],
      { inline: { timeouts: { requestMs: 3 } } },
    )
    expect(outline(route)).toEqual([
      'timeouts: rule ns/a.00.http (policy of-gateway, policy of-route)',
      'cors: policy of-gateway ()',
    ])
    expect(route[0]?.value).toEqual({ requestMs: 3 })
  })

  it('names only the used one of two equal values', () => {
    const { route } = effective([
      policy('older', ROUTE, { traffic: { timeouts: { requestMs: 1 } } }),
      policy('younger', ROUTE, { traffic: { timeouts: { requestMs: 1 } } }),
    ])
    expect(outline(route)).toEqual(['timeouts: policy older (policy younger)'])
  })

  it('keeps the value of a less specific policy that overrides', () => {
    const { route } = effective([
      policy('strict', GATEWAY, { traffic: { timeouts: { requestMs: 1 } } }, { inheritance: 'Override' }),
      policy('of-route', ROUTE, { traffic: { timeouts: { requestMs: 2 } } }),
    ])
    expect(outline(route)).toEqual(['timeouts: policy strict (policy of-route)'])
  })

  it('lists all sources of rules that are evaluated together', () => {
    const rules = { action: 'Allow' as const, matchExpressions: ['true'] }
    const { route } = effective([
      policy('of-gateway', GATEWAY, { traffic: { authorization: rules } }),
      policy('of-route', ROUTE, { traffic: { authorization: { ...rules } } }),
    ])
    expect(outline(route)).toEqual(['authorization: policy of-gateway, policy of-route ()'])
  })

  it('separates policies of connections, before routing, and of the rule', () => {
    const found = effective([
      policy('frontend', GATEWAY, { frontend: { http: { bufferBytesMax: 9 } } }),
      policy('early', GATEWAY, { traffic: { cors: { maxAgeSeconds: 5 } } }, { phase: 'PreRouting' }),
    ])
    expect(outline(found.connection)).toEqual(['http: policy frontend ()'])
    expect(outline(found.gateway)).toEqual(['cors: policy early ()'])
    expect(found.route).toEqual([])
  })

  it('has policies of backends with those of the backend itself and of the reference, without credentials', () => {
    const { backends } = effective(
      [policy('of-backend', BACKEND, { backend: { tcp: { connectTimeoutMs: 7 }, http: { requestTimeoutMs: 1 } } })],
      {
        backend: { ...HOST, inlinePolicies: { http: { requestTimeoutMs: 2 } } },
        backendInline: { requestHeaderModifier: { set: [{ name: 'authorization', value: 'Bearer hunter2' }] } },
      },
    )
    expect(backends.map(({ name }) => name)).toEqual(['ns/a'])
    expect(outline(backends[0]?.fields)).toEqual([
      'tcp: policy of-backend ()',
      'http: backend ns/a (policy of-backend)',
      'requestHeaderModifier: backendRef ns/a.00.http ()',
    ])
    expect(JSON.stringify(backends)).not.toContain('hunter2')
  })

  it('lists the parts of the ai field of several places', () => {
    const { backends } = effective([
      policy('of-gateway', GATEWAY, { backend: { ai: { modelAliases: { a: 'b' } } } }),
      policy('of-backend', BACKEND, { backend: { ai: { routes: {} } } }),
    ])
    expect(outline(backends[0]?.fields)).toEqual(['ai: policy of-gateway, policy of-backend ()'])
  })

  it('has policies of the servers of an MCP backend', () => {
    const targets = [{ name: 'one', static: { host: 'h', port: 1 } }]
    const mcp = { targets, sessionRouting: 'Stateless', prefixMode: 'Never', failureMode: 'FailOpen' } as const
    const target: PolicyTarget = { backend: { namespace: 'ns', name: 'a', section: 'one' } }
    const { backends } = effective([policy('of-server', target, { backend: { tcp: { connectTimeoutMs: 7 } } })], {
      backend: { mcp },
    })
    expect(backends[0]?.fields).toEqual([])
    expect(backends[0]?.sections.map(({ name, fields }) => [name, outline(fields)])).toEqual([
      ['one', ['tcp: policy of-server ()']],
    ])
  })

  it('has policies of a rule that gets requests from another', () => {
    const change = (config: RenderedConfig): RenderedConfig => ({
      ...config,
      routes: config.routes.flatMap(({ listenerKey = '', ...child }) => [
        {
          ...child,
          listenerKey,
          key: 'ns/parent.00.http',
          name: { ...child.name, name: 'parent' },
          backends: [{ weight: 1, ref: { routeGroup: 'ns/group' } }],
          inlinePolicies: { timeouts: { requestMs: 4 } },
        },
        { ...child, routeGroupKey: 'ns/group' },
      ]),
    })
    const { parents, route } = effective([], { change })
    expect(parents).toEqual(['ns/parent.00.http'])
    expect(outline(route)).toEqual(['timeouts: rule ns/parent.00.http ()'])
  })

  it('returns nothing for a key that no rule has', () => {
    const config = configFor(80, { routes: [{ name: 'a', prefix: '/', backend: HOST }] })
    expect(effectivePolicies(config, 'ns/b.00.http')).toBeUndefined()
    expect(effectivePolicies({ ...config, listeners: [] }, 'ns/a.00.http')).toBeUndefined()
  })
})
