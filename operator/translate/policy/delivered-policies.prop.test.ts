// Which policies each Gateway receives, on which targets: the indexes of the translator against loops over everything,
// after each change of a Gateway, a route or a policy.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Policy } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import { SETTINGS } from '../cluster/translations.testing.ts'
import { createTranslator } from '../cluster/translator.ts'
import type { KubeObject } from '../kube.ts'
import { createSnapshotter } from '../snapshot.ts'

const GROUP = 'gateway.networking.k8s.io'
const FIELDS = ['csrf', 'auth'] as const
type Field = (typeof FIELDS)[number]

/** `HTTPRoute r0`, `Gateway g0`, `Service s0` */
type Target = string

interface RouteState {
  readonly gateways: readonly string[]
  readonly services: readonly string[]
}

interface PolicyState {
  /** Older ones have smaller numbers. */
  readonly age: number
  readonly targets: readonly Target[]
  readonly fields: readonly Field[]
}

interface State {
  readonly gateways: readonly string[]
  /** By name; undefined: it does not exist. */
  readonly routes: Readonly<Record<string, RouteState | undefined>>
  readonly policies: Readonly<Record<string, PolicyState | undefined>>
}

const GATEWAYS = ['g0', 'g1', 'g2']
const ROUTES = ['r0', 'r1', 'r2', 'r3']
const SERVICES = ['s0', 's1', 's2']
const POLICIES = ['p0', 'p1', 'p2', 'p3', 'p4']
const REQUEST_TARGETS = [...ROUTES.map((name) => `HTTPRoute ${name}`), ...GATEWAYS.map((name) => `Gateway ${name}`)]
const SERVICE_TARGETS = SERVICES.map((name) => `Service ${name}`)

function some<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.subarray([...items], { minLength: 1, maxLength: 2 })
}

const route: fc.Arbitrary<RouteState> = fc.record({ gateways: some(GATEWAYS), services: some(SERVICES) })
const age = fc.nat({ max: 3 })
const policy: fc.Arbitrary<PolicyState> = fc.oneof(
  fc.record({ age, targets: some(REQUEST_TARGETS), fields: some(FIELDS) }),
  // Services have no traffic settings.
  fc.record({ age, targets: some(SERVICE_TARGETS), fields: fc.constant<Field[]>(['auth']) }),
)

type Change = (state: State) => State

const change: fc.Arbitrary<Change> = fc.oneof(
  some(GATEWAYS).map((gateways): Change => (state) => ({ ...state, gateways })),
  fc
    .tuple(fc.constantFrom(...ROUTES), fc.option(route, { nil: undefined, freq: 4 }))
    .map(([name, one]): Change => (state) => ({ ...state, routes: { ...state.routes, [name]: one } })),
  fc
    .tuple(fc.constantFrom(...POLICIES), fc.option(policy, { nil: undefined, freq: 4 }))
    .map(([name, one]): Change => (state) => ({ ...state, policies: { ...state.policies, [name]: one } })),
)

function entries<T>(record: Readonly<Record<string, T | undefined>>): [string, T][] {
  return Object.entries(record).flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as [string, T]]))
}

/** By Gateway, `policy field target` of each that it receives. */
function naive(state: State): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const gateway of state.gateways) {
    const routes = entries(state.routes).filter(([, { gateways }]) => gateways.includes(gateway))
    const isThere = (target: Target): boolean =>
      target === `Gateway ${gateway}` ||
      routes.some(
        ([name, { services }]) => target === `HTTPRoute ${name}` || services.some((one) => target === `Service ${one}`),
      )
    const received: string[] = []
    const placed = entries(state.policies).flatMap(([name, one]) =>
      one.targets.filter(isThere).map((target) => ({ name, one, target })),
    )
    for (const { name, one, target } of placed) {
      for (const field of one.fields) {
        const isLost = entries(state.policies).some(
          ([other, rival]) =>
            rival.targets.includes(target) &&
            rival.fields.includes(field) &&
            (rival.age < one.age || (rival.age === one.age && other < name)),
        )
        if (!isLost) received.push(`${name} ${field} ${target}`)
      }
    }
    found[`a/${gateway}`] = received.sort()
  }
  return found
}

/** As a manifest; the same object for the same content, as in a cache. */
const made = new Map<string, KubeObject>()

function object(content: {
  readonly kind: string
  readonly name: string
  readonly age?: number
  readonly rest: object
}): KubeObject {
  const key = JSON.stringify(content)
  const known = made.get(key)
  if (known !== undefined) return known
  const { kind, name, age: seconds = 0, rest } = content
  const apiVersion = { GwPolicy: 'gw.dev/v1alpha1', Service: 'v1', Secret: 'v1' }[kind] ?? `${GROUP}/v1`
  const metadata = { name, namespace: 'a', generation: 1, creationTimestamp: `2026-01-01T00:00:0${seconds}Z` }
  // Manifests of the kinds.
  const one = { apiVersion, kind, metadata, ...rest } as KubeObject
  made.set(key, one)
  return one
}

const CLASS = object({ kind: 'GatewayClass', name: 'gw', rest: { spec: { controllerName: SETTINGS.controllerName } } })
const KEY = object({ kind: 'Secret', name: 'key', rest: { data: { Authorization: 'a2V5' } } })

function listsOf(state: State): KubeObject[][] {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  const gateways = state.gateways.map((name) =>
    object({ kind: 'Gateway', name, rest: { spec: { gatewayClassName: 'gw', listeners } } }),
  )
  const services = SERVICES.map((name) => object({ kind: 'Service', name, rest: { spec: { ports: [{ port: 80 }] } } }))
  const routes = entries(state.routes).map(([name, one]) => {
    const parentRefs = one.gateways.map((gateway) => ({ name: gateway }))
    const rules = [{ backendRefs: one.services.map((service) => ({ name: service, port: 80 })) }]
    return object({ kind: 'HTTPRoute', name, rest: { spec: { parentRefs, rules } } })
  })
  const policies = entries(state.policies).map(([name, one]) => {
    const targetRefs = one.targets.map((target) => {
      const [kind = '', of = ''] = target.split(' ')
      return { group: kind === 'Service' ? '' : GROUP, kind, name: of }
    })
    const traffic = one.fields.includes('csrf') && { traffic: { csrf: {} } }
    const backend = one.fields.includes('auth') && { backend: { auth: { secretRef: { name: 'key' } } } }
    return object({ kind: 'GwPolicy', name, age: one.age, rest: { spec: { targetRefs, ...traffic, ...backend } } })
  })
  return [[CLASS], gateways, routes, services, [KEY], policies]
}

function textOf({ name, target, policy: { traffic } }: Policy): string {
  const { gateway, route: ofRoute, service } = target
  const [hostname = ''] = service?.hostname.split('.') ?? []
  const at = gateway ? `Gateway ${gateway.name}` : ofRoute ? `HTTPRoute ${ofRoute.name}` : `Service ${hostname}`
  return `${name.name} ${traffic?.csrf === undefined ? 'auth' : 'csrf'} ${at}`
}

it('each Gateway receives the policies on its routes, Services and itself, the oldest for each field', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 5, maxLength: 40 }), (changes) => {
      const [snapshots, translator] = [createSnapshotter(), createTranslator(SETTINGS)]
      let state: State = { gateways: GATEWAYS, routes: {}, policies: {} }
      for (const make of changes) {
        state = make(state)
        const { perGateway } = translator.translate(snapshots(...listsOf(state)))
        const received = [...perGateway].map(([key, { config }]) => [key, config.policies.map(textOf).sort()] as const)
        expect(Object.fromEntries(received)).toEqual(naive(state))
      }
    }),
    { numRuns: runs(60) },
  )
})
