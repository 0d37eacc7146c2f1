// `/overview` counts what the tables of the web UI and of `gw proxy config` show, without the whole dump.
import { describe, expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { endpointRows } from '#cli/proxy/backends.ts'
import { listenersOf, routeRows } from '#cli/proxy/rows.ts'
import { configDump, type ConfigDumpInput } from '#proxy/admin/config-dump.ts'
import { overview } from '#proxy/admin/overview.ts'
import type { EndpointFigures } from '#proxy/backend/endpoint-store.ts'

const NAMESPACE = 'shop'

function route(index: number): RenderedConfig['routes'][number] {
  const name = { kind: 'HTTPRoute' as const, namespace: NAMESPACE, name: `r${index}` }
  const listenerKey = index % 2 === 0 ? 'plain' : 'secure'
  return { key: `r${index}`, listenerKey, name, hostnames: [], matches: [], backends: [] }
}

/** Two listeners, `size` routes, addresses and workloads, providers, and a Service that no workload has. */
function configOf(size: number): RenderedConfig {
  const places = Array.from({ length: size }, (_, index) => index)
  const service = { hostname: 'cart.shop.svc', namespace: NAMESPACE }
  const provider = { provider: { openai: {} } }
  return {
    ...emptyConfig(),
    binds: [{ key: 'web', port: 8080 }],
    listeners: ['plain', 'secure'].map((key) => ({
      key,
      bindKey: 'web',
      name: { gatewayName: 'g', gatewayNamespace: NAMESPACE, listenerName: key },
      protocol: 'HTTP',
    })),
    routes: [...places.map(route), { ...route(size), listenerKey: undefined, routeGroupKey: 'group' }],
    tcpRoutes: [
      {
        key: 't',
        listenerKey: 'plain',
        name: { kind: 'TCPRoute', namespace: NAMESPACE, name: 't' },
        hostnames: [],
        backends: [],
      },
    ],
    backends: [
      ...places.map((index) => ({
        key: `shop/b${index}`,
        name: { namespace: NAMESPACE, name: `b${index}` },
        static: { host: '127.0.0.1', port: 1000 + index },
      })),
      {
        key: 'shop/llm',
        name: { namespace: NAMESPACE, name: 'llm' },
        ai: {
          groups: [
            {
              providers: [
                { name: 'one', ...provider },
                { name: 'two', ...provider, backendRef: { backend: 'shop/b0' } },
              ],
            },
          ],
        },
      },
    ],
    services: [
      { name: 'cart', ports: [{ port: 80 }], ...service },
      { name: 'none', ports: [{ port: 80 }], ...service, hostname: 'none.shop.svc' },
    ],
    workloads: places.map((index) => ({
      uid: `cluster//Pod/shop/p${index}`,
      addresses: [`10.0.0.${index}`],
      healthy: index % 3 !== 0,
      services: [{ ...service, ports: [{ port: 80, targetPort: 8080 }] }],
    })),
  } as unknown as RenderedConfig // `routes` with an undefined key, as a test of what is left out
}

/** Each endpoint had a request; those of port 1003 are evicted. */
function figures(key: string): EndpointFigures {
  const isEvicted = key.endsWith(':1003')
  return {
    health: 1,
    latencySeconds: 0.1,
    pendingRequests: 0,
    totalRequests: 1,
    consecutiveFailures: 0,
    timesEjected: 0,
    ...(isEvicted && { evictedForMs: 60_000 }),
  } as EndpointFigures // other fields are not shown
}

function inputOf(size: number): ConfigDumpInput {
  const certificate = { use: 'server', owner: 'a', notBefore: '', notAfter: '' } as const
  return {
    config: configOf(size),
    figures,
    certificates: [
      { ...certificate, state: 'valid' },
      ...Array.from({ length: 150 }, () => ({ ...certificate, state: 'expired' as const })),
    ],
    credentials: [],
    listenAddress: '::',
    place: {},
    version: {},
    settings: {},
  }
}

describe('overview', () => {
  it('has the counts of the whole dump', () => {
    const input = inputOf(10)
    const dump = configDump(input)
    const rows = endpointRows(dump, true)
    const answer = overview(input)
    expect(answer).toMatchObject({
      routes: routeRows(dump).length,
      policies: 0,
      endpoints: rows.length,
      requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    })
    expect([answer.routes, answer.endpoints]).toEqual([12, 22])
    expect(answer.listeners.map(({ bind, address, listener }) => [bind, address, listener.key])).toEqual(
      listenersOf(dump).map(({ bind, address, listener }) => [bind, address, listener.key]),
    )
    expect(answer.listeners.map(({ routes }) => routes)).toEqual([6, 5])
    expect(answer.evicted).toMatchObject([{ name: 'b3', namespace: NAMESPACE, endpoint: '127.0.0.1:1003' }])
  })

  it('counts all concerns, and lists at most 100 of a kind', () => {
    const { concerns, certificates } = overview(inputOf(10))
    expect([concerns, certificates.length]).toEqual([151, 100])
  })

  it('is as short for 2,000 routes as for 10', () => {
    const lengths = [10, 2000].map((size) => JSON.stringify(overview(inputOf(size))).length)
    expect((lengths[1] ?? 0) - (lengths[0] ?? 0)).toBeLessThan(100)
  })

  it('is empty before the first configuration', () => {
    expect(overview({ ...inputOf(1), config: undefined, certificates: [] })).toMatchObject({
      listeners: [],
      concerns: 0,
    })
  })
})
