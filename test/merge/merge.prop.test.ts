// Compares translation and the merge of the proxy with a naive model, which follows the text of the specification:
// manifests in, effective policies out.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Listener, RenderedConfig, Route, RouteBackend } from '#api/ir/types.gen.ts'
import { BACKEND, FRONTEND, TRAFFIC } from '#operator/translate/policy/registry.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import type { Translation } from '#operator/translate/translation.ts'
import { indexPolicies, placeOf, type PolicyIndex } from '#proxy/policy/policy-index.ts'
import { effectiveBackend, effectiveFrontend, overlaySection } from '#proxy/policy/merge-backend.ts'
import { effectiveTraffic } from '#proxy/policy/merge.ts'
import { runs } from '#test/run/runs.ts'
import { BACKEND_MARK, drawn, manifests, NAMESPACE, PROVIDER_MARK, type Drawn } from './cluster.ts'
import { effective, expectedStatus, type Level, type Step } from './model.ts'
import { marksIn, NO_UNIT, UNITS, type Mark, type Unit } from './units.ts'

const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }

/** Every level of the Gateway: port 81 of the Service exists, but no route uses it. */
const KNOWN: ReadonlySet<Level> = new Set(
  [
    'Gateway/gw Gateway/gw#l Gateway/gw#m Gateway/gw:80 Gateway/gw:82',
    'ListenerSet/set ListenerSet/set#l ListenerSet/set#s',
    'HTTPRoute/parent HTTPRoute/parent#r HTTPRoute/parent#q HTTPRoute/child HTTPRoute/child#r',
    'GRPCRoute/parent GRPCRoute/parent#r',
    'Service/svc Service/svc#80',
    'GwBackend/be GwBackend/be#sec',
  ].flatMap((line) => line.split(' ')),
)

/** "Gateway < Listener", and for listeners of a set "Gateway < ListenerSet < its section". */
const LISTENERS: Readonly<Record<string, { readonly port: number; readonly levels: readonly Level[] }>> = {
  'gw l': { port: 80, levels: ['Gateway/gw', 'Gateway/gw#l'] },
  'gw m': { port: 81, levels: ['Gateway/gw', 'Gateway/gw#m'] },
  'set l': { port: 82, levels: ['Gateway/gw', 'ListenerSet/set', 'ListenerSet/set#l'] },
  'set s': { port: 83, levels: ['Gateway/gw', 'ListenerSet/set', 'ListenerSet/set#s'] },
}

interface Setting {
  readonly input: Drawn
  readonly config: RenderedConfig
  readonly index: PolicyIndex
}

/** Marks of each unit in effective policies; a unit that no policy sets has none. */
function found(section: Unit['section'], values: object): Record<string, Mark[]> {
  return byUnit(section, (unit) => {
    const value = unit.effective.split('.').reduce<unknown>((at, name) => Object(at)[name], values)
    return marksIn(value)
  })
}

function byUnit(section: Unit['section'], marks: (unit: Unit) => Mark[]): Record<string, Mark[]> {
  const units = UNITS.filter((unit) => unit.section === section)
  return Object.fromEntries(units.map((unit) => [unit.path, marks(unit)]))
}

function unitsAt(section: Unit['section'], effectiveName: string): Unit[] {
  return UNITS.filter((unit) => unit.section === section && unit.effective === effectiveName)
}

function inlineHeader(section: Unit['section'], mark: Mark | undefined): Step[] {
  return mark === undefined ? [] : [{ units: unitsAt(section, 'requestHeaderModifier'), mark }]
}

function checkListener({ input: { policies }, index }: Setting, listener: Listener): readonly Level[] {
  const { name } = listener
  const { port, levels } = LISTENERS[`${name.listenerSet?.name ?? 'gw'} ${name.listenerName}`] ?? {
    port: 0,
    levels: [],
  }
  const place = placeOf({ name, port })
  const { preRouting } = effectiveTraffic(index, { ...place, routes: [] })
  expect(preRouting.deny).toEqual([])
  expect(found('traffic', preRouting)).toEqual(
    byUnit('traffic', (unit) => effective(policies, levels, { unit, phase: 'PreRouting' })),
  )
  // "Gateway < Gateway with port < ListenerSet < its section < listener"; only Gateways can have frontend policies.
  const steps = [...levels.slice(0, 1), `Gateway/gw:${port}`, ...levels.slice(1)]
  expect(found('frontend', effectiveFrontend(index, place))).toEqual(
    byUnit('frontend', (unit) => effective(policies, steps, { unit, phase: 'PostRouting' })),
  )
  return levels
}

interface ChainPlace {
  readonly listener: Listener
  readonly levels: readonly Level[]
  /** Parent first. */
  readonly chain: readonly Route[]
}

function routeSteps(chain: readonly Route[]): Level[] {
  return chain.flatMap(({ name }) => [`${name.kind}/${name.name}`, `${name.kind}/${name.name}#${name.ruleName}`])
}

function checkRoute({ input, index }: Setting, { listener, levels, chain }: ChainPlace): void {
  const { policies, inline } = input
  const inlineOf = ({ name }: Route): Step[] => {
    if (name.kind === 'GRPCRoute' || name.ruleName !== 'r') return []
    return inlineHeader('traffic', name.name === 'parent' ? inline.parentRule : inline.childRule)
  }
  const steps = [...levels, ...chain.flatMap((route) => [...routeSteps([route]), ...inlineOf(route)])]
  const { postRouting } = effectiveTraffic(index, { ...placeOf({ name: listener.name, port: 0 }), routes: chain })
  expect(postRouting.deny).toEqual([])
  expect(found('traffic', postRouting)).toEqual(
    byUnit('traffic', (unit) => effective(policies, steps, { unit, phase: 'PostRouting' })),
  )
}

/** "Gateway < Listener < Route < rule < Backend or Service", then inline; the provider over all of it. */
function checkBackend(setting: Setting, { listener, levels, chain }: ChainPlace, reference: RouteBackend): void {
  const { input, config, index } = setting
  const { policies, inline } = input
  const backend = config.backends.find(({ key }) => key === reference.ref.backend)
  const own: Step[] =
    backend === undefined
      ? ['Service/svc', 'Service/svc#80']
      : ['GwBackend/be', { units: inline.backend, mark: BACKEND_MARK }]
  const steps = [...levels, ...routeSteps(chain), ...own]
  const model = (all: readonly Step[]): Record<string, Mark[]> =>
    byUnit('backend', (unit) => effective(policies, all, { unit, phase: 'PostRouting' }))
  const merged = effectiveBackend(index, {
    ...placeOf({ name: listener.name, port: 0 }),
    routes: chain,
    service: reference.ref.service,
    backend,
    refInlinePolicies: reference.inlinePolicies,
  })
  expect(found('backend', merged)).toEqual(model(steps))
  expect(merged.deny).toBeUndefined()
  expect(marksIn(merged.requestHeaderModifier)).toEqual(backend && inline.backendRef ? [inline.backendRef] : [])
  if (backend === undefined) return
  const provider = backend.ai?.groups[0]?.providers[0]
  const section = { backend: backend.name, section: 'sec', inlinePolicies: provider?.inlinePolicies }
  const overProvider: Step[] = ['GwBackend/be#sec', { units: inline.provider, mark: PROVIDER_MARK }]
  expect(found('backend', overlaySection(index, merged, section))).toEqual(model([...steps, ...overProvider]))
}

/** Chains of routes on a listener, from the configuration. */
function chainsOf({ routes }: RenderedConfig, listener: Listener): Route[][] {
  return routes
    .filter(({ listenerKey }) => listenerKey === listener.key)
    .flatMap((route) => {
      const groups = new Set(route.backends.flatMap(({ ref }) => ref.routeGroup ?? []))
      const children = routes.filter(({ routeGroupKey }) => groups.has(routeGroupKey ?? ''))
      return groups.size === 0 ? [[route]] : children.map((child) => [route, child])
    })
}

function checkStatuses({ policies }: Drawn, { statuses }: Translation): void {
  for (const policy of policies) {
    const status = statuses.find(
      ({ kind, namespace, name }) => kind === 'GwPolicy' && namespace === policy.namespace && name === policy.name,
    )?.status
    const ancestors = status !== undefined && 'ancestors' in status ? status.ancestors : []
    const at = (name: string): string[] =>
      ancestors
        .filter(({ ancestorRef }) => ancestorRef.name === name)
        .flatMap(({ conditions }) => conditions.map((one) => `${one.type}=${one.status} ${one.reason}`))
    const { attached, winners, hasSummary } = expectedStatus(policies, policy, KNOWN)
    const isAttached = attached === 'Overridden' ? 'False' : 'True'
    const accepted = 'Accepted=True Valid'
    expect(at('gw')).toEqual(attached === undefined ? [] : [accepted, `Attached=${isAttached} ${attached}`])
    expect(at('StatusSummary')).toEqual(hasSummary ? [accepted, 'Attached=False Pending'] : [])
    const messages = JSON.stringify(ancestors)
    for (const winner of winners) expect(messages).toContain(`is set by the older policy ${NAMESPACE}/${winner}`)
  }
}

it('covers every field of a policy', () => {
  const units = new Set([...UNITS.map(({ section, path }) => `${section}.${path.split('.')[0]}`), ...NO_UNIT])
  const sections = { traffic: TRAFFIC, backend: BACKEND, frontend: FRONTEND }
  const fields = Object.entries(sections).flatMap(([section, all]) =>
    Object.keys(all).map((name) => `${section}.${name}`),
  )
  expect([...units].toSorted()).toEqual(fields.toSorted())
})

it('merges the policies of manifests as the model does, and reports overridden ones', () => {
  fc.assert(
    fc.property(drawn, (input) => {
      const translation = translate(snapshotOf(manifests(input)), SETTINGS)
      const config = translation.perGateway.get(`${NAMESPACE}/gw`)?.config
      if (config === undefined) throw new Error('the Gateway has no configuration')
      const setting = { input, config, index: indexPolicies(config.policies) }
      let backends = 0
      for (const listener of config.listeners) {
        const levels = checkListener(setting, listener)
        for (const chain of chainsOf(config, listener)) {
          checkRoute(setting, { listener, levels, chain })
          for (const reference of chain.at(-1)?.backends ?? []) {
            checkBackend(setting, { listener, levels, chain }, reference)
            backends++
          }
        }
      }
      // Each of four listeners: two backends of the route, two of the delegated one, one of the GRPCRoute.
      expect(backends).toBe(20)
      checkStatuses(input, translation)
    }),
    { numRuns: runs(100) },
  )
}, 60_000)
