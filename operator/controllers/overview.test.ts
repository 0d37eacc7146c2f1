import { afterAll, beforeAll, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import { until } from '#test/wait.ts'
import { configFor, type TestOperator, testOperator } from './operator.testing.ts'

const GATEWAY_API = 'gateway.networking.k8s.io/v1'

let kube: FakeKube
let running: TestOperator

beforeAll(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  for (const [name, secret] of [
    ['web', 'missing'],
    ['other', 'lost'],
  ] as const) {
    const tls = { certificateRefs: [{ name: secret }] }
    create('gateways.gateway.networking.k8s.io', 'Gateway', name, {
      gatewayClassName: 'gw',
      listeners: [
        { name: 'http', port: 80, protocol: 'HTTP' },
        { name: 'https', port: 443, protocol: 'HTTPS', tls },
      ],
    })
  }
  const set = [{ name: 'authorization', value: 'Bearer hunter2' }]
  create('httproutes.gateway.networking.k8s.io', 'HTTPRoute', 'cart', {
    parentRefs: [
      { name: 'web', sectionName: 'http' },
      { name: 'other', sectionName: 'nowhere' },
    ],
    rules: [
      {
        filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set } }],
        backendRefs: [{ name: 'missing', port: 80 }],
      },
    ],
  })
  create('gwpolicies.gw.dev', 'GwPolicy', 'users', {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }],
    traffic: {
      basicAuthentication: { secretRef: { name: 'no-users' } },
      cors: { allowOrigins: ['https://a.example'] },
    },
  })
  create('gwpolicies.gw.dev', 'GwPolicy', 'lost', {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'none' }],
    traffic: { cors: { allowOrigins: ['https://a.example'] } },
  })
  running = await testOperator({ config: configFor(kube.url) })
  await until('the operator has written', () => running.operator.isReady() && running.operator.isIdle())
})

afterAll(async () => {
  await running?.stop()
  await kube?.stop()
})

function create(resource: string, kind: string, name: string, spec: object): void {
  const apiVersion = kind === 'GwPolicy' ? 'gw.dev/v1alpha1' : GATEWAY_API
  kube.store.create(resource, { apiVersion, kind, metadata: { name, namespace: 'shop' }, spec })
}

it('lists conditions that report a problem with the part of the object that each is about', () => {
  const { conditions, totals, pending } = running.operator.overview()
  const rows = conditions.map(({ object, part, type, reason }) => [object, part, type, reason].join(' | '))
  expect(rows).toContain('Gateway shop/web | listener https | ResolvedRefs | InvalidCertificateRef')
  expect(rows).toContain('HTTPRoute shop/cart | Gateway shop/web, http | ResolvedRefs | BackendNotFound')
  expect(rows).toContain('HTTPRoute shop/cart | Gateway shop/other, nowhere | Accepted | NoMatchingParent')
  expect(rows).toContain('GwPolicy shop/users | Gateway shop/web | Accepted | PartiallyValid')
  expect(rows).toContain('GwPolicy shop/lost |  | Attached | Pending')
  expect(totals).toMatchObject({ gateways: 2, conditions: rows.length })
  expect(pending).toEqual([])
})

it('shows what concerns one Gateway only', () => {
  const objects = (key: string): string[] => {
    const { conditions = [], problems = [] } = running.operator.gateway(key) ?? {}
    return [...conditions.map(({ object, part }) => `${object} ${part}`), ...problems.map(({ object }) => object)]
  }
  expect(objects('shop/web')).toContain('HTTPRoute shop/cart Gateway shop/web, http')
  expect(objects('shop/web')).toContain('GwPolicy shop/users Gateway shop/web')
  expect(objects('shop/web').filter((text) => text.includes('other'))).toEqual([])
  expect(objects('shop/other')).toContain('HTTPRoute shop/cart Gateway shop/other, nowhere')
  expect(objects('shop/other').filter((text) => text.includes('users') || text.includes('shop/web'))).toEqual([])
  expect(running.operator.gateway('shop/none')).toBeUndefined()
})

it('names another revision of the configuration only after a change of it', async () => {
  const revision = (key: string): string | undefined => running.operator.gateway(key)?.gateway.revision
  const [web, other] = [revision('shop/web'), revision('shop/other')]
  expect(revision('shop/web')).toBe(web)
  const gateway = kube.store.get('gateways.gateway.networking.k8s.io', 'shop/web')
  if (gateway === undefined) throw new Error('the Gateway is missing')
  const spec = { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] }
  kube.store.update('gateways.gateway.networking.k8s.io', { ...gateway, spec }, false)
  await until('the change is translated', () => revision('shop/web') !== web)
  expect(revision('shop/other')).toBe(other)
})

it('has no credentials of plain fields in its description', () => {
  expect(JSON.stringify(running.operator.describe())).toContain('shop/cart')
  expect(JSON.stringify(running.operator.describe())).not.toContain('hunter2')
})
