// allowedRoutes of listeners: which routes may attach, by namespace and kind. Other routes are not served,
// and their status and the log of `gw run` report the reason.
import { expect } from 'vitest'
import { changing, type ConformanceCase } from './suite/case.ts'
import type { Answer } from './suite/ask.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'shared-gateway.yaml'
const GROUP = 'gateway.networking.k8s.io'
const LISTENER = { name: 'http', port: 8080, protocol: 'HTTP', hostname: '*.example.com' }

function allowing(allowedRoutes: object | undefined): (manifests: string) => string {
  return changing('Gateway/shared', { listeners: [{ ...LISTENER, ...(allowedRoutes && { allowedRoutes }) }] })
}

const selecting = (selector: object): object => ({ namespaces: { from: 'Selector', selector } })

/** The route of a team: its host, namespace and name are those of the team. */
const visit = (gateway: SampleGateway, team: string): Promise<Answer> =>
  gateway.ask('/', { headers: { host: `${team}.example.com` } })

async function expectServed(gateway: SampleGateway, team: string): Promise<void> {
  expect(await visit(gateway, team)).toMatchObject({ status: 200 })
  expect(gateway.conditions('HTTPRoute', team)).toMatchObject([
    { type: 'Accepted', status: 'True', reason: 'Accepted' },
    { type: 'ResolvedRefs', status: 'True' },
  ])
}

async function expectRefused(gateway: SampleGateway, team: string, message: string): Promise<void> {
  expect(await visit(gateway, team)).toMatchObject({ status: 404, text: 'route not found' })
  const [accepted] = gateway.conditions('HTTPRoute', team)
  expect(accepted).toMatchObject({ type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners' })
  expect(accepted?.message).toContain(message)
  expect(gateway.log()).toContain(message)
}

interface Namespaces {
  readonly name: string
  readonly namespaces: string
  readonly allowedRoutes: object | undefined
  /** Routes of the teams shop and blog. */
  readonly served: readonly string[]
}

const BY_NAMESPACE: readonly Namespaces[] = [
  {
    name: 'All',
    namespaces: 'all namespaces',
    allowedRoutes: { namespaces: { from: 'All' } },
    served: ['shop', 'blog'],
  },
  { name: 'Same', namespaces: 'its own namespace', allowedRoutes: { namespaces: { from: 'Same' } }, served: [] },
  { name: 'Unset', namespaces: 'its own namespace', allowedRoutes: undefined, served: [] },
  {
    name: 'Labels',
    namespaces: 'namespaces with a label',
    allowedRoutes: selecting({ matchLabels: { team: 'shop' } }),
    served: ['shop'],
  },
  {
    name: 'Name',
    namespaces: 'a namespace by its name, which every namespace has as a label',
    allowedRoutes: selecting({ matchLabels: { 'kubernetes.io/metadata.name': 'blog' } }),
    served: ['blog'],
  },
  {
    name: 'In',
    namespaces: 'namespaces whose label has one of the values',
    allowedRoutes: selecting({ matchExpressions: [{ key: 'team', operator: 'In', values: ['blog', 'wiki'] }] }),
    served: ['blog'],
  },
  {
    name: 'NotIn',
    namespaces: 'namespaces whose label has none of the values',
    allowedRoutes: selecting({ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['blog', 'wiki'] }] }),
    served: ['shop'],
  },
  {
    name: 'Exists',
    namespaces: 'namespaces with any value of a label',
    allowedRoutes: selecting({ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }),
    served: ['shop'],
  },
  {
    name: 'AllOfThem',
    namespaces: 'namespaces that have all that a selector asks for',
    allowedRoutes: selecting({
      matchLabels: { team: 'blog' },
      matchExpressions: [{ key: 'tier', operator: 'Exists' }],
    }),
    served: [],
  },
  {
    name: 'DoesNotExist',
    namespaces: 'namespaces without a label',
    allowedRoutes: selecting({ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }),
    served: ['blog'],
  },
]

function ofNamespaces({ name, namespaces, allowedRoutes, served }: Namespaces): ConformanceCase {
  return {
    shortName: `AllowedRoutes${name}`,
    description: `a listener that accepts routes of ${namespaces} accepts no others`,
    sample: SAMPLE,
    change: allowing(allowedRoutes),
    async run(gateway) {
      for (const team of ['shop', 'blog']) {
        if (served.includes(team)) await expectServed(gateway, team)
        else await expectRefused(gateway, team, `namespace "${team}" is not allowed by the parent`)
      }
    },
  }
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'SharedGateway',
    description: 'routes of the namespaces that may attach are served by one Gateway, each for its own host',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/', { headers: { host: 'shop.example.com' } })).server).toBe('echo')
      expect((await gateway.echo('/', { headers: { host: 'blog.example.com' } })).server).toBe('spare')
      expect(await visit(gateway, 'other')).toMatchObject({ status: 404 })
    },
  },
  ...BY_NAMESPACE.map(ofNamespaces),
  {
    shortName: 'AllowedRoutesInOwnNamespace',
    description: 'a listener without allowedRoutes accepts routes of the namespace of its Gateway',
    sample: SAMPLE,
    change: (manifests) => allowing(undefined)(manifests).replaceAll('namespace: blog', 'namespace: infra'),
    run: (gateway) => expectServed(gateway, 'blog'),
  },
  {
    shortName: 'AllowedRoutesKinds',
    description: 'a listener that lists kinds accepts no routes of other kinds from any namespace',
    sample: SAMPLE,
    change: allowing({ namespaces: { from: 'All' }, kinds: [{ group: GROUP, kind: 'GRPCRoute' }] }),
    run: (gateway) =>
      expectRefused(gateway, 'shop', `kind ${GROUP}/HTTPRoute is not allowed; listener http accepts GRPCRoute`),
  },
  {
    shortName: 'AllowedRoutesUnknownKind',
    description: 'the status of the listener names a kind that its protocol does not support; the others attach',
    sample: SAMPLE,
    change: allowing({
      namespaces: { from: 'All' },
      kinds: [
        { group: GROUP, kind: 'TCPRoute' },
        { group: GROUP, kind: 'HTTPRoute' },
      ],
    }),
    async run(gateway) {
      await expectServed(gateway, 'shop')
      const resolved = gateway.conditions('Gateway', 'shared').find(({ type }) => type === 'ResolvedRefs')
      expect(resolved).toMatchObject({ status: 'False', reason: 'InvalidRouteKinds' })
    },
  },
]
