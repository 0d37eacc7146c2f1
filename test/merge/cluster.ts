// A cluster with every place for policies, and random policies on it; as manifests that the schema accepts.
import * as fc from 'fast-check'
import { applyDefaults, isKnownKind, validateObject } from '#api/validate/validate.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { sectionsOf, tunnelProxy, UNITS, type Mark, type Unit } from './units.ts'

export interface Target {
  readonly kind: 'Gateway' | 'ListenerSet' | 'HTTPRoute' | 'GRPCRoute' | 'Service' | 'GwBackend'
  readonly name: string
  readonly section?: string
  readonly port?: number
}

export interface DrawnPolicy {
  readonly namespace: string
  readonly name: string
  readonly created: string
  readonly mark: Mark
  readonly units: readonly Unit[]
  readonly targets: readonly Target[]
  /** Selects its targets by a label; all objects with the label are targets. */
  readonly hasSelector: boolean
  readonly isPreRouting: boolean
  readonly isOverride: boolean
}

/** Inline policies of the objects themselves. undefined: none. */
export interface Inline {
  readonly parentRule: Mark | undefined
  readonly childRule: Mark | undefined
  readonly backendRef: Mark | undefined
  readonly backend: readonly Unit[]
  readonly provider: readonly Unit[]
}

export interface Drawn {
  readonly policies: readonly DrawnPolicy[]
  readonly inline: Inline
}

export const NAMESPACE = 'n'
/** Policies at these places have no effect. */
const OTHER_NAMESPACE = 'o'
export const BACKEND_MARK: Mark = 190_000
export const PROVIDER_MARK: Mark = 190_001

const GROUPS = {
  Gateway: 'gateway.networking.k8s.io',
  ListenerSet: 'gateway.networking.k8s.io',
  HTTPRoute: 'gateway.networking.k8s.io',
  GRPCRoute: 'gateway.networking.k8s.io',
  Service: '',
  GwBackend: 'gw.dev',
} as const

const routes = (kind: 'HTTPRoute' | 'GRPCRoute', names: readonly string[]): Target[] =>
  names.flatMap((name) => [{ kind, name }, ...['r', 'q', 'gone'].map((section) => ({ kind, name, section }))])

/**
 * Names and sections are equal on purpose: Gateway and ListenerSet have a listener `l`, both kinds a route `parent`.
 */
const TARGETS: { readonly [K in Target['kind']]: readonly Target[] } = {
  Gateway: [
    { kind: 'Gateway', name: 'gw' },
    ...['l', 'm', 's'].map((section) => ({ kind: 'Gateway', name: 'gw', section }) as const),
    ...[80, 82].map((port) => ({ kind: 'Gateway', name: 'gw', port }) as const),
  ],
  ListenerSet: [
    { kind: 'ListenerSet', name: 'set' },
    ...['l', 's', 'm'].map((section) => ({ kind: 'ListenerSet', name: 'set', section }) as const),
  ],
  HTTPRoute: routes('HTTPRoute', ['parent', 'child', 'gone']),
  GRPCRoute: routes('GRPCRoute', ['parent']),
  Service: [
    { kind: 'Service', name: 'svc' },
    ...['80', '81', '82'].map((section) => ({ kind: 'Service', name: 'svc', section }) as const),
  ],
  GwBackend: [
    { kind: 'GwBackend', name: 'be' },
    ...['sec', 'gone'].map((section) => ({ kind: 'GwBackend', name: 'be', section }) as const),
  ],
}

/** The label is on both HTTPRoutes. */
const SELECTED = ['parent', 'child'] as const

const unitsOf = (section: Unit['section'], max: number): fc.Arbitrary<Unit[]> =>
  fc.subarray(
    UNITS.filter((unit) => unit.section === section),
    { maxLength: max },
  )

const policyOn = (kind: Target['kind']): fc.Arbitrary<Omit<DrawnPolicy, 'mark' | 'name'> & { id: number }> =>
  fc
    .record({
      id: fc.integer({ min: 0, max: 999 }),
      namespace: fc.constantFrom(NAMESPACE, NAMESPACE, NAMESPACE, NAMESPACE, NAMESPACE, OTHER_NAMESPACE),
      created: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
      hasSelector: kind === 'HTTPRoute' ? fc.boolean() : fc.constant(false),
      drawnTargets: fc.array(fc.constantFrom(...TARGETS[kind]), { minLength: 1, maxLength: 3 }),
      isPreRouting: fc.boolean(),
      isOverride: fc.boolean(),
      drawnUnits: fc
        .tuple(unitsOf('traffic', 4), unitsOf('backend', 4), unitsOf('frontend', 3))
        .map((all) => all.flat()),
    })
    .map(({ drawnTargets, drawnUnits, isPreRouting, isOverride, hasSelector, ...rest }) => {
      const targets = hasSelector ? selected(drawnTargets) : drawnTargets
      const isEarly = isPreRouting && (kind === 'Gateway' || kind === 'ListenerSet')
      const units = drawnUnits.filter((unit) => isAllowed(unit, targets, isEarly))
      const onlyTraffic = units.every(({ section }) => section === 'traffic')
      const hasTraffic = units.some(({ section }) => section === 'traffic')
      const phase = { isPreRouting: isEarly && hasTraffic, isOverride: isOverride && onlyTraffic }
      return { ...rest, ...phase, hasSelector, targets, units }
    })
    .filter(({ units }) => units.length > 0)

/** Cross-field rules of the API. */
function isAllowed(unit: Unit, targets: readonly Target[], isEarly: boolean): boolean {
  if (unit.section === 'traffic' && isEarly && unit.isPreRouting !== true) return false
  return targets.every(({ kind, section, port }) => {
    if (port !== undefined && unit.section !== 'frontend') return false
    if (!KINDS[unit.section].has(kind)) return false
    return unit.refuses === undefined || !unit.refuses.has(section === undefined ? kind : `${kind}#`)
  })
}

const ROUTES = ['HTTPRoute', 'GRPCRoute'] as const
const KINDS: { readonly [K in Unit['section']]: ReadonlySet<Target['kind']> } = {
  traffic: new Set(['Gateway', 'ListenerSet', ...ROUTES]),
  backend: new Set(['Gateway', 'ListenerSet', ...ROUTES, 'Service', 'GwBackend']),
  frontend: new Set(['Gateway']),
}

/** One selector, with the section of the first target. */
function selected([first]: readonly Target[]): Target[] {
  const section = first?.section
  return SELECTED.map((name) => ({ kind: 'HTTPRoute', name, ...(section !== undefined && { section }) }))
}

const maybe = (value: Mark): fc.Arbitrary<Mark | undefined> => fc.constantFrom(undefined, value)
const INLINE = new Set(['http', 'tcp', 'health', 'transformation', 'ai.modelAliases', 'ai.routes'])
const inlineUnits = fc.subarray(UNITS.filter(({ section, path }) => section === 'backend' && INLINE.has(path)))

export const drawn: fc.Arbitrary<Drawn> = fc.record({
  policies: fc
    .uniqueArray(
      fc.oneof(
        { weight: 4, arbitrary: policyOn('Gateway') },
        { weight: 3, arbitrary: policyOn('ListenerSet') },
        { weight: 4, arbitrary: policyOn('HTTPRoute') },
        policyOn('GRPCRoute'),
        policyOn('Service'),
        { weight: 2, arbitrary: policyOn('GwBackend') },
      ),
      { selector: ({ id }) => id, maxLength: 24 },
    )
    .map((list) => list.map(({ id, ...rest }, i) => ({ ...rest, name: `p${id}`, mark: 100_000 + i }))),
  inline: fc.record({
    parentRule: maybe(190_002),
    childRule: maybe(190_003),
    backendRef: maybe(190_004),
    backend: inlineUnits,
    provider: inlineUnits,
  }),
})

/** Throws if the schema rejects one: then the model above is not valid for real manifests. */
export function manifests({ policies, inline }: Drawn): KubeObject[] {
  return [...skeleton(inline), ...tunnelProxies(policies), ...policies.map(policyManifest)].map((object) => {
    const problems = isKnownKind(object) ? validateObject(object).problems : []
    if (problems.length > 0) throw new Error(`${JSON.stringify(object)}: ${JSON.stringify(problems)}`)
    // Each of them has a kind and a name.
    return applyDefaults(object) as KubeObject
  })
}

function tunnelProxies(all: readonly DrawnPolicy[]): object[] {
  return all
    .filter(({ units }) => units.some(({ path }) => path === 'tunnel'))
    .map(({ mark, namespace }) => ({
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      metadata: { namespace, name: tunnelProxy(mark), generation: 1 },
      spec: { static: { host: 'proxy.example', port: 3128 } },
    }))
}

function policyManifest({ namespace, name, created, ...policy }: DrawnPolicy): object {
  const { targets, units, hasSelector, isOverride, isPreRouting } = policy
  const refs = targets.map(({ kind, name: target, section, port }) => ({
    group: GROUPS[kind],
    kind,
    name: target,
    ...(section !== undefined && { sectionName: section }),
    ...(port !== undefined && { port }),
  }))
  const selectors = refs.slice(0, 1).map(({ name: _name, ...rest }) => ({ ...rest, matchLabels: { app: 'x' } }))
  const sections = sectionsOf(units, policy.mark)
  const traffic = isPreRouting ? { traffic: { ...Object(sections['traffic']), phase: 'PreRouting' } } : {}
  return {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { namespace, name, generation: 1, creationTimestamp: created },
    spec: {
      ...(hasSelector ? { targetSelectors: selectors } : { targetRefs: refs }),
      ...(isOverride && { strategy: { inheritance: 'Override' } }),
      ...sections,
      ...traffic,
    },
  }
}

const GATEWAY_API = 'gateway.networking.k8s.io'
const SERVICE_REF = { name: 'svc', port: 80 }
const PARENTS = { parentRefs: [{ name: 'gw' }, { kind: 'ListenerSet', group: GATEWAY_API, name: 'set' }] }

function made(apiVersion: string, kind: string, name: string, spec: object): object {
  return { apiVersion, kind, metadata: { namespace: NAMESPACE, name, generation: 1, labels: { app: 'x' } }, spec }
}

const listener = (name: string, port: number): object => ({ name, port, protocol: 'HTTP' })

function rule(name: string, path: string, rest: object): object {
  return { name, matches: [{ path: { type: 'PathPrefix', value: path } }], ...rest }
}

function skeleton({ parentRule, childRule, backendRef, backend, provider }: Inline): object[] {
  const backendRefs = [{ group: 'gw.dev', kind: 'GwBackend', name: 'be', ...filters(backendRef) }, SERVICE_REF]
  const inParent = rule('r', '/r', { backendRefs, ...filters(parentRule) })
  const inChild = rule('r', '/q', { backendRefs, ...filters(childRule) })
  const toChild = rule('q', '/q', { backendRefs: [{ group: GATEWAY_API, kind: 'HTTPRoute', name: 'child' }] })
  const v1 = `${GATEWAY_API}/v1`
  return [
    {
      apiVersion: v1,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    made(v1, 'Gateway', 'gw', {
      gatewayClassName: 'gw',
      allowedListeners: { namespaces: { from: 'All' } },
      listeners: [listener('l', 80), listener('m', 81)],
    }),
    made(v1, 'ListenerSet', 'set', { parentRef: { name: 'gw' }, listeners: [listener('l', 82), listener('s', 83)] }),
    made(v1, 'HTTPRoute', 'parent', { ...PARENTS, hostnames: ['http.example'], rules: [inParent, toChild] }),
    made(v1, 'HTTPRoute', 'child', { rules: [inChild] }),
    made(v1, 'GRPCRoute', 'parent', {
      ...PARENTS,
      hostnames: ['grpc.example'],
      rules: [{ name: 'r', backendRefs: [SERVICE_REF] }],
    }),
    ...[NAMESPACE, OTHER_NAMESPACE].map((namespace) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'keys' },
      data: { one: Buffer.from('word').toString('base64') },
    })),
    made('v1', 'Service', 'svc', { ports: [80, 81].map((port) => ({ name: `p${port}`, port })) }),
    made('gateway.networking.k8s.io/v1beta1', 'ReferenceGrant', 'asked', {
      from: [{ group: 'gw.dev', kind: 'GwPolicy', namespace: OTHER_NAMESPACE }],
      to: [{ group: '', kind: 'Service' }],
    }),
    made('gw.dev/v1alpha1', 'GwBackend', 'be', {
      ai: { groups: [{ providers: [{ name: 'sec', p1: {}, ...policies(provider, PROVIDER_MARK) }] }] },
      ...policies(backend, BACKEND_MARK),
    }),
  ]
}

function policies(units: readonly Unit[], mark: Mark): object {
  return units.length === 0 ? {} : { policies: sectionsOf(units, mark)['backend'] }
}

function filters(value: Mark | undefined): object {
  if (value === undefined) return {}
  const requestHeaderModifier = { set: [{ name: 'x-mark', value: String(value) }] }
  return { filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier }] }
}
