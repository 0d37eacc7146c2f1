import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../backend/scripted-upstream.testing.ts'
import { testProxy, type TestProxy } from '../main.testing.ts'
import { endpointStates, labelsOf } from './endpoint-states.ts'
import type { MinutePoints } from './minute-ring.ts'

type EndpointStates = components['schemas']['EndpointStates']

const points = (parts: Partial<MinutePoints> = {}): MinutePoints => ({
  health: [1, 0.5],
  latency: [null, 0.1],
  requests: [0, 2],
  evicted: [0, 0.25],
  ...parts,
})

const SERVICE = { namespace: 'shop', hostname: 'cart.shop.svc' }
const PORTS = [80, 81].map((port) => ({ port, targetPort: port + 8000 }))

function configOf(): RenderedConfig {
  return {
    ...emptyConfig(),
    services: [{ name: 'cart', ...SERVICE, ports: [{ port: 80 }, { port: 81 }] }],
    workloads: ['10.0.0.1', '10.0.0.2'].map((address, i) => ({
      uid: `cluster//Pod/shop/p${i}`,
      addresses: [address],
      healthy: true,
      services: [{ ...SERVICE, ports: PORTS }],
    })),
    backends: [
      {
        key: 'shop/tools',
        name: { namespace: 'shop', name: 'tools' },
        mcp: {
          targets: [{ name: 'carts', ref: { service: { ...SERVICE, port: 80 } } }],
          sessionRouting: 'Stateful',
          prefixMode: 'Conditional',
          failureMode: 'FailClosed',
        },
      },
    ],
  }
}

describe('endpointStates', () => {
  it('has the endpoints with points, the worst of several ports, and their connections', () => {
    const histories = new Map([
      ['service/shop/cart.shop.svc:80|10.0.0.1:8080', points()],
      [
        'service/shop/cart.shop.svc:81|10.0.0.1:8081',
        points({ health: [null, 0.25], latency: [0.2, null], requests: [1, 1], evicted: [1, 0] }),
      ],
    ])
    expect(labelsOf(histories)).toEqual(['10.0.0.1:8080', '10.0.0.1:8081'])
    const worker = {
      ports: [],
      endpoints: [
        { label: '10.0.0.1:8080', open: 3, idle: 1, openMax: 100 },
        { label: '10.0.0.1:8081', open: 2, idle: 2, openMax: 100 },
      ],
    }
    const { workers, endpoints } = endpointStates({
      config: configOf(),
      histories,
      workers: [worker, { ports: [], endpoints: worker.endpoints.slice(0, 1) }],
      workersServing: 3,
    })
    expect(workers).toBe(2)
    expect(endpoints).toEqual([
      {
        type: 'Service',
        name: 'cart',
        namespace: 'shop',
        endpoint: 'cluster//Pod/shop/p0',
        history: { health: [1, 0.25], latency: [0.2, 0.1], requests: [1, 3], evicted: [1, 0.25] },
        connections: { open: 8, idle: 4, max: 600 },
      },
      {
        type: 'Backend',
        name: 'tools',
        namespace: 'shop',
        endpoint: 'carts',
        history: points(),
        connections: { open: 6, idle: 2, max: 300 },
      },
    ])
  })

  it('has no limit where no worker has a connection', () => {
    const histories = new Map([['service/shop/cart.shop.svc:80|10.0.0.1:8080', points()]])
    const [first] = endpointStates({ config: configOf(), histories, workers: [], workersServing: 1 }).endpoints
    expect(first?.connections).toEqual({ open: 0, idle: 0, max: null })
  })
})

describe('/endpoints', () => {
  let upstream: ScriptedUpstream
  let gateway: TestProxy

  beforeAll(async () => {
    upstream = await scriptedUpstream((response) => response.end('fine'))
    const backend = { static: { host: '127.0.0.1', port: upstream.port } }
    gateway = await testProxy({ routes: [{ name: 'all', prefix: '/', backend }], workers: 2 })
  })

  afterAll(async () => {
    await gateway.stop()
    upstream.stop()
  })

  it('has the connections and requests of an endpoint', async () => {
    await (await fetch(gateway.url)).text()
    const read = async (): Promise<EndpointStates['endpoints'][number] | undefined> => {
      const answer = await fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}/endpoints`)
      return ((await answer.json()) as EndpointStates).endpoints[0]
    }
    await expect.poll(read).toMatchObject({
      type: 'Backend',
      endpoint: `127.0.0.1:${upstream.port}`,
      connections: { open: 1, idle: 1, max: 8192 },
    })
    const history = (await read())?.history
    expect(history?.requests.reduce((sum, count) => sum + count, 0)).toBe(1)
  })
})
