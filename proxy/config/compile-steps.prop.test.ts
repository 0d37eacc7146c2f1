// A configuration that is compiled in slices, while requests are served and later configurations replace unfinished
// ones, equals one that is compiled at once from nothing.
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import { keepItems } from '#api/ir/keep-items.ts'
import type { Backend, Listener, Policy, RenderedConfig, Route } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import { EndpointStore } from '../backend/endpoint-store.ts'
import { SharedEndpoints } from '../backend/shared-endpoints.ts'
import { requestOf } from '../route/request.testing.ts'
import { compileConfig, compileSteps } from './compile.ts'
import type { CompiledConfig } from './compiled.ts'
import type { CompileEnvironment } from './compile-environment.ts'

/** Several steps for each list. */
const FILLING = 300
const PORTS = [80, 81]
const ROUTES = [0, 1, 2, 3]

const value = fc.constantFrom('one', 'two')
interface RouteState {
  readonly at: number
  readonly listener: string
  readonly host: string
  readonly path: string
  readonly backend: string
  readonly value: string
}

interface PolicyState {
  readonly at: number | 'gw'
  readonly value: string
}

interface State {
  readonly listeners: readonly string[]
  readonly routes: readonly RouteState[]
  readonly policies: readonly PolicyState[]
  /** In all other routes, and in a policy of each; undefined: the configuration has no others. */
  readonly filling: string | undefined
  /** Of the backend. */
  readonly header: string
}

const FIRST: State = { listeners: ['a'], routes: [], policies: [], filling: undefined, header: 'one' }

/** One part changes, and the items of the others stay the same. */
const change: fc.Arbitrary<Partial<State>> = fc.oneof(
  fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((listeners) => ({ listeners })),
  fc
    .array(
      fc.record({
        at: fc.constantFrom(...ROUTES),
        listener: fc.constantFrom('a', 'a', 'b', 'c'),
        host: fc.constantFrom('a.x.com', '*.x.com', '*'),
        path: fc.constantFrom('/', '/p'),
        backend: fc.constantFrom('k', 'gone'),
        value,
      }),
      { maxLength: 6 },
    )
    .map((routes) => ({ routes })),
  fc
    .array(fc.record({ at: fc.constantFrom('gw' as const, ...ROUTES), value }), { maxLength: 3 })
    .map((policies) => ({ policies })),
  fc.option(value, { nil: undefined }).map((filling) => ({ filling })),
  value.map((header) => ({ header })),
)

function changedState(state: State, changes: Partial<State>): State {
  return { ...state, ...changes }
}

function routeOf({ at, listener, host, path, backend, value: set }: RouteState): Route {
  return {
    key: `ns/r${at}.${listener}`,
    listenerKey: listener,
    name: { kind: 'HTTPRoute', namespace: 'ns', name: `r${at}` },
    hostnames: [host],
    matches: [{ path: { pathPrefix: path } }],
    backends: [{ weight: 1, ref: { backend } }],
    inlinePolicies: { responseHeaderModifier: { set: [{ name: 'x-value', value: set }] } },
  }
}

function policyOf({ at, value: set }: PolicyState): Policy {
  const route = { kind: 'HTTPRoute' as const, namespace: 'ns', name: `r${at}` }
  return {
    key: `policy-${at}`,
    name: { kind: 'GwPolicy', namespace: 'ns', name: `policy-${at}` },
    target: at === 'gw' ? { gateway: { namespace: 'ns', name: 'gw' } } : { route },
    policy: { traffic: { requestHeaderModifier: { set: [{ name: 'x-policy', value: set }] } } },
  }
}

function backendOf(header: string): Backend {
  const requestHeaderModifier = { set: [{ name: 'x-backend', value: header }] }
  const name = { namespace: 'ns', name: 'k' }
  return { key: 'k', name, static: { host: '127.0.0.1', port: 1 }, inlinePolicies: { requestHeaderModifier } }
}

function listenerOf(name: string, at: number): Listener {
  return {
    key: name,
    bindKey: `bind-${PORTS[at % PORTS.length]}`,
    name: { gatewayNamespace: 'ns', gatewayName: 'gw', listenerName: name },
    hostname: name === 'a' ? '*.x.com' : `${name}.x.com`,
    protocol: 'HTTP',
  }
}

const byKey = <T extends { readonly key: string }>(items: readonly T[]): T[] => [
  ...new Map(items.map((one) => [one.key, one])).values(),
]

function configOf({ listeners, routes, policies, filling, header }: State): RenderedConfig {
  const places = Array.from({ length: filling === undefined ? 0 : FILLING }, (_, at) => ROUTES.length + at)
  const others = places.map((at) =>
    routeOf({ at, listener: 'a', host: `h${at}.x.com`, path: '/p', backend: 'k', value: 'one' }),
  )
  const ofOthers = places.map((at) => policyOf({ at, value: filling ?? '' }))
  return {
    ...emptyConfig(),
    binds: PORTS.map((port) => ({ key: `bind-${port}`, port })),
    listeners: listeners.map(listenerOf),
    routes: byKey([...routes.map(routeOf), ...others]),
    policies: byKey([...policies.map(policyOf), ...ofOthers]),
    backends: [backendOf(header)],
  }
}

const HOSTS = ['a.x.com', 'b.x.com', 'c.x.com', 'h4.x.com', 'h290.x.com', 'other.org']

/** Every route that requests find, with its plan; routes are compiled by this, as by a first request. */
function served({ binds }: CompiledConfig): unknown[] {
  return PORTS.flatMap((port) =>
    HOSTS.flatMap((host) => {
      const listener = binds.get(port)?.routing.hosts.find(host)?.value
      return ['/', '/p'].map((path) => {
        const route = listener?.router.find(requestOf({ host, path }))?.value
        return [port, host, path, listener?.place.listener, route?.key, inspect(route?.plan, { depth: 8 })]
      })
    }),
  )
}

/** In order; each configuration replaces the previous one, or the one whose compilation has not ended. */
class Worker {
  #config = emptyConfig()
  #endpoints = SharedEndpoints.of(emptyConfig(), 1)
  #inForce: CompiledConfig | undefined = undefined

  get config(): RenderedConfig {
    return this.#config
  }

  /** `pause`: called between two steps; false: a later configuration has arrived. */
  take(state: State, pause: (inForce: CompiledConfig | undefined) => boolean): CompiledConfig | undefined {
    const config = keepItems(this.#config, configOf(state))
    const endpoints = this.#endpoints.after(config)
    const steps = compileSteps({ generation: 1, config, secrets: SECRETS }, environmentOf(endpoints), this.#inForce)
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) {
        for (const plans of step.value.listeners.values()) plans.putInForce(step.value.context)
        this.#inForce = step.value
        this.#config = config
        this.#endpoints = endpoints
        return step.value
      }
      if (!pause(this.#inForce)) return undefined
    }
  }
}

const SECRETS = { version: 1 as const, secrets: [] }

/** The same objects for all configurations, as in a worker: otherwise no plan would be kept. */
const PARTS = { observer: {}, rateLimits: {} }

function environmentOf(endpoints: SharedEndpoints): CompileEnvironment {
  // The rest is called when requests arrive, and none do.
  return { ...PARTS, endpoints: new EndpointStore(endpoints.shared, 0) } as unknown as CompileEnvironment
}

it('equals what is compiled at once, and does not change what is in force meanwhile', () => {
  const round = fc.record({ change, stopsAfter: fc.constantFrom(undefined, undefined, 0, 1, 3) })
  let pauses = 0
  let abandoned = 0
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 8 }), (rounds) => {
      const worker = new Worker()
      let state = FIRST
      for (const { change: changed, stopsAfter = Number.POSITIVE_INFINITY } of rounds) {
        state = changedState(state, changed)
        let count = 0
        let before: unknown
        const compiled = worker.take(state, (inForce) => {
          pauses++
          const now = inForce && served(inForce)
          before ??= now
          expect(now).toEqual(before)
          return count++ < stopsAfter
        })
        if (compiled === undefined) {
          abandoned++
          continue
        }
        const { config } = worker
        const whole = compileConfig(
          { generation: 1, config, secrets: SECRETS },
          environmentOf(SharedEndpoints.of(config, 1)),
          undefined,
        )
        expect(served(compiled)).toEqual(served(whole))
        expect(compiled.warnings).toEqual(whole.warnings)
      }
    }),
    { numRuns: runs(150, 30) },
  )
  expect(pauses).toBeGreaterThan(20)
  expect(abandoned).toBeGreaterThan(0)
})
