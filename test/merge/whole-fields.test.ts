// Fields whose values cannot hold a mark: the most specific level replaces the whole field, with all its parts.
// From manifests to the effective policies of the proxy.
import { expect, it } from 'vitest'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import { indexPolicies, placeOf } from '#proxy/policy/policy-index.ts'
import { effectiveBackend, effectiveFrontend } from '#proxy/policy/merge-backend.ts'
import { effectiveTraffic } from '#proxy/policy/merge.ts'
import { manifests, NAMESPACE, type DrawnPolicy, type Target } from './cluster.ts'
import { NO_UNIT, type Unit } from './units.ts'

const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const NO_INLINE = { parentRule: undefined, childRule: undefined, backendRef: undefined, backend: [], provider: [] }

const GATEWAY: Target = { kind: 'Gateway', name: 'gw' }
const LISTENER: Target = { kind: 'Gateway', name: 'gw', section: 'l' }
const PORT: Target = { kind: 'Gateway', name: 'gw', port: 80 }
const ROUTE: Target = { kind: 'HTTPRoute', name: 'parent' }
const RULE: Target = { kind: 'HTTPRoute', name: 'parent', section: 'r' }
const BACKEND: Target = { kind: 'GwBackend', name: 'be' }
const IN_ROUTES = [GATEWAY, LISTENER, ROUTE, RULE]

interface WholeField {
  readonly section: Unit['section']
  readonly path: string
  /** The value of each level, the least specific first, and its effect without a more specific level. */
  readonly levels: readonly (readonly [target: Target, value: unknown, effective: unknown])[]
}

const keySet = (issuer: string, more: object): unknown => ({
  issuer,
  jwks: { jwksPath: '/keys', backendRef: { name: 'svc', port: 80 } },
  ...more,
})

const FIELDS: readonly WholeField[] = [
  {
    section: 'traffic',
    path: 'hostRewrite',
    levels: IN_ROUTES.map((target, i) => {
      const value = { mode: i % 2 === 0 ? 'Auto' : 'None' }
      return [target, value, value]
    }),
  },
  {
    section: 'frontend',
    path: 'proxyProtocol',
    levels: [
      [GATEWAY, { version: 'V1', mode: 'Optional' }, { version: 'V1', mode: 'Optional' }],
      // The mode is not that of the Gateway.
      [PORT, { version: 'All' }, { version: 'All', mode: 'Strict' }],
    ],
  },
  {
    section: 'frontend',
    path: 'connect',
    levels: [
      [GATEWAY, { mode: 'Deny' }, { mode: 'Deny' }],
      [PORT, { mode: 'Tunnel' }, { mode: 'Tunnel' }],
    ],
  },
  {
    section: 'backend',
    path: 'mcp.authentication',
    levels: [
      [GATEWAY, keySet('a', { mode: 'Permissive', audiences: ['x'] }), { issuer: 'a', audiences: ['x'] }],
      [ROUTE, keySet('b', { audiences: ['y'] }), { issuer: 'b', audiences: ['y'] }],
      // Audiences are not those of the route.
      [RULE, keySet('c', {}), { issuer: 'c', audiences: undefined }],
      [BACKEND, keySet('d', { mode: 'Optional' }), { issuer: 'd', audiences: undefined }],
    ],
  },
]

const CASES = FIELDS.flatMap(({ levels, ...field }) =>
  levels.map(([, , effective], i) => ({ ...field, effective, levels: levels.slice(0, i + 1) })),
)

it('covers the fields that the property leaves out', () => {
  const paths = FIELDS.map(({ section, path }) => `${section}.${path}`)
  expect(paths.filter((path) => !path.startsWith('backend.mcp.')).toSorted()).toEqual([...NO_UNIT].toSorted())
})

it.each(CASES)(
  '$section.$path of the most specific of $levels.length levels',
  ({ section, path, levels, effective }) => {
    const policies = levels.map(([target, value], i): DrawnPolicy => ({
      namespace: NAMESPACE,
      name: `p${i}`,
      // Less specific policies are older: age decides only within a level.
      created: `2026-01-0${i + 1}T00:00:00Z`,
      mark: 100_000 + i,
      units: [{ section, path, effective: path, value: () => value }],
      targets: [target],
      hasSelector: false,
      isPreRouting: false,
      isOverride: false,
    }))
    const inputs = manifests({ policies, inline: NO_INLINE })
    const config = translate(snapshotOf(inputs), SETTINGS).perGateway.get(`${NAMESPACE}/gw`)?.config
    if (config === undefined) throw new Error('the Gateway has no configuration')
    expect(effectiveValue(config, section, path)).toEqual(effective)
  },
)

/** On the rule `r` of the route `parent` behind the listener `l` on port 80, and its GwBackend. */
function effectiveValue(config: RenderedConfig, section: Unit['section'], path: string): unknown {
  const index = indexPolicies(config.policies)
  const listener = config.listeners.find(({ name }) => name.listenerName === 'l' && name.listenerSet === undefined)
  const route = config.routes.find(
    ({ name, listenerKey }) => name.kind === 'HTTPRoute' && name.ruleName === 'r' && listenerKey === listener?.key,
  )
  if (listener === undefined || route === undefined) throw new Error('the route is missing')
  const place = placeOf({ name: listener.name, port: 80 })
  if (section === 'frontend') return valueAt(effectiveFrontend(index, place), path)
  if (section === 'traffic') {
    const { postRouting } = effectiveTraffic(index, { ...place, routes: [route] })
    return valueAt(valueAt(postRouting, path), 'value')
  }
  const backend = config.backends.find(({ name }) => name.name === 'be')
  const { mcpAuthentication } = effectiveBackend(index, { ...place, routes: [route], backend })
  const [provider] = mcpAuthentication?.providers ?? []
  return { issuer: provider?.issuer, audiences: provider?.audiences }
}

function valueAt(holder: unknown, name: string): unknown {
  return Object(holder)[name]
}
