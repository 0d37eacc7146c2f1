import { expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { policiesInForce, translatedDump, translatedEndpoints } from './translated-dump.ts'

const NAME = { namespace: 'shop', name: 'cart' }
const HOST = 'cart.shop.svc.cluster.local'
const MCP = {
  targets: [{ name: 'search', static: { host: 'search.example', port: 80 } }],
  ...({ sessionRouting: 'Stateless', prefixMode: 'Never', failureMode: 'FailOpen' } as const),
}
const CONFIG: RenderedConfig = {
  ...emptyConfig(),
  binds: [{ key: '80', port: 80 }],
  listeners: [
    {
      key: 'http',
      bindKey: '80',
      name: { gatewayNamespace: 'shop', gatewayName: 'web', listenerName: 'http' },
      protocol: 'HTTP',
    },
  ],
  routes: [
    {
      key: 'shop/cart.00.http',
      listenerKey: 'http',
      name: { kind: 'HTTPRoute', ...NAME },
      hostnames: [],
      matches: [],
      backends: [],
      inlinePolicies: { timeouts: { requestMs: 5 } },
    },
  ],
  backends: [
    { key: 'shop/api', name: { namespace: 'shop', name: 'api' }, static: { host: 'api.example', port: 443 } },
    { key: 'shop/any', name: { namespace: 'shop', name: 'any' }, dynamic: {} },
    { key: 'shop/gone', name: { namespace: 'shop', name: 'gone' }, invalid: 'the Secret is missing' },
    { key: 'shop/tools', name: { namespace: 'shop', name: 'tools' }, mcp: MCP },
  ],
  services: [
    { ...NAME, hostname: HOST, ports: [{ port: 80 }] },
    { namespace: 'shop', name: 'lost', hostname: 'lost.shop.svc.cluster.local', ports: [{ port: 80 }] },
  ],
  workloads: [
    {
      uid: 'shop/cart-1',
      namespace: 'shop',
      name: 'cart-1',
      addresses: ['10.1.0.5'],
      healthy: true,
      services: [{ hostname: HOST, namespace: 'shop', ports: [{ port: 80, targetPort: 8080 }] }],
    },
  ],
}

it('has listeners with their ports and routes', () => {
  const [bind] = translatedDump(CONFIG).binds
  expect([bind?.address, Object.keys(bind?.listeners['http']?.routes ?? {})]).toEqual([':80', ['shop/cart.00.http']])
})

it('has the policies in force for a rule, and none for a rule that is gone', () => {
  expect(policiesInForce(CONFIG, 'shop/cart.00.http')?.route).toMatchObject([
    { field: 'timeouts', value: { requestMs: 5 }, sources: [{ kind: 'rule', key: 'shop/cart.00.http' }] },
  ])
  expect(policiesInForce(CONFIG, 'shop/cart.01.http')).toBeUndefined()
})

it('has endpoints, and Services and backends without endpoints', () => {
  const rows = translatedEndpoints(translatedDump(CONFIG))
  expect(rows.map(({ type, name, endpoint, missing, note }) => [type, name, endpoint, missing ?? note ?? ''])).toEqual([
    ['Service', 'cart', 'cart-1', ''],
    ['Service', 'lost', '', 'no ready endpoints'],
    ['Backend', 'any', '', 'the address of each request'],
    ['Backend', 'api', 'api.example:443', ''],
    ['Backend', 'gone', '', 'the Secret is missing'],
    ['Backend', 'tools', 'search', 'MCP server'],
  ])
})
