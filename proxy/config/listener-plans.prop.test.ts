// For all sequences of changes, requests are answered according to the configuration in force, also by plans that were
// compiled long before; and unrelated plans are not compiled again.
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepItems } from '#api/ir/keep-items.ts'
import type { Policy, RenderedConfig, Route, Workload } from '#api/ir/types.gen.ts'
import { startProxy } from '#proxy/main.ts'
import { freePort } from '#test/ports.ts'
import { configFor, ON_LOOPBACK } from '#proxy/main.testing.ts'
import { runs } from '#test/run/runs.ts'
import { EndpointStore } from '../backend/endpoint-store.ts'
import { SharedEndpoints } from '../backend/shared-endpoints.ts'
import type { RoutePlan } from '../chain/plan.ts'
import { compileConfig } from './compile.ts'
import type { CompiledConfig } from './compiled.ts'
import type { CompileEnvironment } from './compile-environment.ts'

const TARGETS = ['s0', 's1', 'b0', 'gone'] as const
type Target = (typeof TARGETS)[number]
const ROUTES = [0, 1, 2]

interface State {
  readonly routes: readonly { readonly target: Target; readonly value: string; readonly isLimited: boolean }[]
  /** The server of each; undefined: there is no such Service. */
  readonly servers: Readonly<Record<Exclude<Target, 'gone'>, number | undefined>>
  readonly policies: Readonly<Record<'gateway' | 'route', string | undefined>>
  /** What the declared function returns. */
  readonly version: string
}

const FIRST: State = {
  routes: ROUTES.map((at) => ({ target: TARGETS[at] ?? 's0', value: 'first', isLimited: false })),
  servers: { s0: 0, s1: 1, b0: 2 },
  policies: { gateway: undefined, route: undefined },
  version: 'first',
}

type Edit = (state: State) => State

const value = fc.constantFrom('one', 'two')
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc
    .record({ at: fc.constantFrom(...ROUTES), target: fc.constantFrom(...TARGETS), value, isLimited: fc.boolean() })
    .map(({ at, ...route }): Edit => (state) => ({ ...state, routes: state.routes.with(at, route) })),
  fc
    .record({ of: fc.constantFrom('s0', 's1'), server: fc.constantFrom(0, 1, 2, undefined) })
    .map(({ of, server }): Edit => (state) => ({ ...state, servers: { ...state.servers, [of]: server } })),
  value.map((version): Edit => (state) => ({ ...state, version })),
  fc.nat(2).map((server): Edit => (state) => ({ ...state, servers: { ...state.servers, b0: server } })),
  fc
    .record({ of: fc.constantFrom('gateway', 'route'), header: fc.option(value, { nil: undefined }) })
    .map(({ of, header }): Edit => (state) => ({ ...state, policies: { ...state.policies, [of]: header } })),
)

function hostname(service: string): string {
  return `${service}.ns.svc.cluster.local`
}

function routeOf(at: number, { target, value: set, isLimited }: State['routes'][number]): Route {
  const ref = target.startsWith('s')
    ? { service: { namespace: 'ns', hostname: hostname(target), port: 80 } }
    : { backend: `ns/${target}` }
  const limit = { unit: 'Requests', tokensPerFill: 1000, fillIntervalMs: 1000, tokensMax: 1000 } as const
  return {
    key: `ns/r${at}.00.http`,
    listenerKey: 'ns/gw.http',
    name: { kind: 'HTTPRoute', namespace: 'ns', name: `r${at}` },
    hostnames: [`r${at}.test`],
    matches: [],
    backends: [{ weight: 1, ref }],
    inlinePolicies: {
      transformation: { response: { set: [{ name: 'x-version', expression: 'version()' }] } },
      responseHeaderModifier: { set: [{ name: 'x-value', value: set }] },
      ...(isLimited && { rateLimit: { limits: [limit] } }),
    },
  }
}

function policyOf(name: 'gateway' | 'route', header: string): Policy {
  const requestHeaderModifier = { set: [{ name: `x-${name}`, value: header }] }
  return {
    key: name,
    name: { kind: 'GwPolicy', namespace: 'ns', name },
    target:
      name === 'gateway'
        ? { gateway: { namespace: 'ns', name: 'gw' } }
        : { route: { kind: 'HTTPRoute', namespace: 'ns', name: 'r0' } },
    policy: { traffic: { requestHeaderModifier } },
  }
}

function configOf(
  { routes, servers, policies, version }: State,
  port: number,
  ports: readonly number[],
): RenderedConfig {
  const present = (['s0', 's1'] as const).filter((name) => servers[name] !== undefined)
  const workload = (name: 's0' | 's1'): Workload => ({
    uid: name,
    addresses: ['127.0.0.1'],
    healthy: true,
    services: [
      {
        namespace: 'ns',
        hostname: hostname(name),
        ports: [{ port: 80, targetPort: ports[servers[name] ?? 0] ?? 0 }],
      },
    ],
  })
  const set = Object.entries(policies).flatMap(([name, header]) =>
    header === undefined ? [] : [policyOf(name === 'gateway' ? name : 'route', header)],
  )
  return {
    ...configFor(port, { routes: [] }),
    customFunctions: `version() { "${version}" }`,
    routes: routes.map((route, at) => routeOf(at, route)),
    services: present.map((name) => ({ name, namespace: 'ns', hostname: hostname(name), ports: [{ port: 80 }] })),
    workloads: present.map(workload),
    backends: [
      {
        key: 'ns/b0',
        name: { namespace: 'ns', name: 'b0' },
        static: { host: '127.0.0.1', port: ports[servers.b0 ?? 0] ?? 0 },
      },
    ],
    policies: set,
  }
}

function expected({ routes, servers, policies, version }: State, at: number): unknown {
  const route = routes[at]
  const server = route === undefined || route.target === 'gone' ? undefined : servers[route.target]
  if (server === undefined) return { status: 500 }
  // The more specific one replaces the other.
  const seen = at === 0 && policies.route !== undefined ? { route: policies.route } : { gateway: policies.gateway }
  return { status: 200, server: String(server), value: route?.value, version, ...seen }
}

const servers: Server[] = []

beforeAll(async () => {
  for (let at = 0; at < 3; at++) {
    const server = createServer(({ headers }, response) => {
      const seen = { server: String(at), gateway: headers['x-gateway'], route: headers['x-route'] }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(seen))
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    servers.push(server)
  }
})

afterAll(() => {
  for (const server of servers) server.close().closeAllConnections()
})

function portsOf(): number[] {
  // Listening on TCP ports.
  return servers.map((server) => (server.address() as AddressInfo).port)
}

function ask(port: number, at: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, headers: { host: `r${at}.test` } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => {
        const status = response.statusCode
        const { 'x-value': set, 'x-version': version } = response.headers
        resolve(status === 200 ? { status, ...JSON.parse(text), value: set, version } : { status })
      })
    }).on('error', reject)
  })
}

describe('plans that are kept', () => {
  it.each([1, 2])(
    'answer as new ones would (%i workers)',
    async (workers) => {
      const proxy = await startProxy({ ...ON_LOOPBACK, workers, accessLog: false, logLevel: 'error' })
      const port = await freePort()
      let before = configFor(port, { routes: [] })
      const histories = fc.array(fc.array(edit, { minLength: 1, maxLength: 2 }), { maxLength: 6 })
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          let state = FIRST
          for (const edits of [[], ...history]) {
            for (const one of edits) state = one(state)
            before = keepItems(before, configOf(state, port, portsOf()))
            const applied = await proxy.apply(before, { version: 1, secrets: [] })
            expect(applied).toMatchObject({ warnings: [] })
            for (const at of ROUTES) expect(await ask(port, at)).toEqual(expected(state, at))
          }
        }),
        { numRuns: runs(12, 4) },
      )
      await proxy.stop({ isForced: true })
    },
    60_000,
  )

  it('stay while their inputs are unchanged', () => {
    const history = new History()
    const [first, limited] = [history.plan(0), history.plan(1)]
    const same: Edit[] = [
      (state) => ({ ...state, routes: state.routes.with(2, { target: 's1', value: 'x', isLimited: false }) }),
      (state) => ({ ...state, servers: { ...state.servers, b0: 1, s1: 2 } }),
      (state) => ({ ...state, routes: state.routes.toSpliced(2, 1) }),
    ]
    for (const one of same) {
      history.change(one)
      expect(history.plan(0)).toBe(first)
    }
    expect(history.plan(1)).not.toBe(limited)
    const others: Edit[] = [
      (state) => ({ ...state, version: 'second' }),
      (state) => ({ ...state, servers: { ...state.servers, s0: 1 } }),
      (state) => ({ ...state, servers: { ...state.servers, s0: undefined } }),
      (state) => ({ ...state, servers: { ...state.servers, s0: 1 } }),
      (state) => ({ ...state, policies: { ...state.policies, route: 'x' } }),
      (state) => ({ ...state, policies: { ...state.policies, gateway: 'x' } }),
      (state) => ({ ...state, routes: state.routes.with(0, { target: 's0', value: 'y', isLimited: false }) }),
    ]
    let last = first
    for (const one of others) {
      history.change(one)
      expect(history.plan(0)).not.toBe(last)
      last = history.plan(0)
      expect(history.plan(0)).toBe(last)
    }
  })

  it('of a configuration that is not put in force do not change those in force', () => {
    const history = new History()
    const first = history.plan(0)
    const refused = history.prepare((state) => ({ ...state, servers: { ...state.servers, s0: 2 } }))
    expect(history.plan(0, refused)).not.toBe(first)
    expect(history.plan(0)).toBe(first)
    history.change((state) => ({ ...state, servers: { ...state.servers, s1: 0 } }))
    expect(history.plan(0)).toBe(first)
  })
})

/** A sequence of configurations, as a worker compiles them and puts them in force. */
class History {
  #state = FIRST
  #config = configOf(FIRST, 80, [1, 2, 3])
  #endpoints = SharedEndpoints.of(this.#config, 1)
  // Called when requests arrive, and none do.
  readonly #parts = { observer: {}, rateLimits: {} }
  #compiled: CompiledConfig | undefined = undefined

  constructor() {
    this.change((state) => state)
  }

  change(one: Edit): void {
    const compiled = this.prepare(one)
    for (const plans of compiled.listeners.values()) plans.putInForce(compiled.context)
    this.#compiled = compiled
    this.#state = one(this.#state)
    this.#config = keepItems(this.#config, configOf(this.#state, 80, [1, 2, 3]))
    this.#endpoints = this.#endpoints.after(this.#config)
  }

  prepare(one: Edit): CompiledConfig {
    const config = keepItems(this.#config, configOf(one(this.#state), 80, [1, 2, 3]))
    const endpoints = new EndpointStore(this.#endpoints.after(config).shared, 0)
    const environment = { ...this.#parts, endpoints } as unknown as CompileEnvironment
    return compileConfig({ generation: 1, config, secrets: SECRETS }, environment, this.#compiled)
  }

  plan(at: number, compiled = this.#compiled): RoutePlan | undefined {
    const route = this.#config.routes.find(({ key }) => key === `ns/r${at}.00.http`)
    return route && compiled?.listeners.get('ns/gw.http')?.plan(route, [], compiled.context)
  }
}

const SECRETS = { version: 1 as const, secrets: [] }
