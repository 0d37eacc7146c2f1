import { describe, expect, it } from 'vitest'
import type { FrontendPayload, RenderedConfig } from '#api/ir/types.gen.ts'
import type { EndpointFigures } from '../backend/endpoint-store.ts'
import type { Locality } from '../backend/locality.ts'
import { configDump } from './config-dump.ts'

const CONFIG: RenderedConfig = {
  version: 2,
  binds: [{ key: '443/infra/edge', port: 443, protocol: 'TLS' }],
  listeners: [
    {
      key: 'infra/edge.https',
      bindKey: '443/infra/edge',
      name: { gatewayName: 'edge', gatewayNamespace: 'infra', listenerName: 'https' },
      hostname: '*.example.com',
      protocol: 'HTTPS',
      tls: { certificate: { secret: 'infra/cert/tls.crt' }, privateKey: { secret: 'infra/cert/tls.key' } },
    },
  ],
  routes: [
    {
      key: 'shop/cart.00.https',
      listenerKey: 'infra/edge.https',
      name: { kind: 'HTTPRoute', namespace: 'shop', name: 'cart', ruleName: 'r' },
      createdAt: 7,
      hostnames: ['a.example.com'],
      matches: [{ path: { exact: '/x' }, headers: [{ name: 'authorization', value: { exact: 'Bearer abc' } }] }],
      backends: [{ weight: 1, ref: { service: { hostname: 'cart.shop.svc', namespace: 'shop', port: 80 } } }],
      inlinePolicies: {
        requestHeaderModifier: {
          set: [
            { name: 'Authorization', value: 'Bearer hunter2' },
            { name: 'x-plain', value: 'shown' },
          ],
        },
      },
    },
    {
      key: 'shop/sub.00',
      routeGroupKey: 'shop/group',
      name: { kind: 'HTTPRoute', namespace: 'shop', name: 'sub' },
      hostnames: [],
      matches: [],
      backends: [],
    },
  ],
  tcpRoutes: [],
  backends: [
    {
      key: 'shop/tools',
      name: { namespace: 'shop', name: 'tools' },
      mcp: {
        targets: [{ name: 'local', stdio: { cmd: 'run', env: { TOKEN: 'hunter2' } } }],
        sessionRouting: 'Stateful',
        prefixMode: 'Conditional',
        failureMode: 'FailClosed',
      },
    },
    { key: 'shop/api', name: { namespace: 'shop', name: 'api' }, static: { host: '2001:db8::1', port: 443 } },
    {
      key: 'shop/llm',
      name: { namespace: 'shop', name: 'llm' },
      ai: {
        groups: [
          {
            providers: [{ name: 'main', provider: { openai: { model: 'gpt' } }, hostOverride: { host: 'h', port: 1 } }],
          },
        ],
      },
      inlinePolicies: { auth: { key: { secret: 'shop/llm/key' } } },
    },
  ],
  policies: [
    {
      key: 'b',
      name: { kind: 'GwPolicy', namespace: 'shop', name: 'b' },
      target: { service: { hostname: 'cart.shop.svc', namespace: 'shop' } },
      policy: { backend: { tcp: { connectTimeoutMs: 5 } } },
    },
    {
      key: 'a',
      name: { kind: 'GwPolicy', namespace: 'infra', name: 'a' },
      target: { gateway: { namespace: 'infra', name: 'edge' } },
      phase: 'PreRouting',
      inheritance: 'Override',
      policy: { traffic: { csrf: {} } },
    },
  ],
  services: [
    {
      name: 'cart',
      namespace: 'shop',
      hostname: 'cart.shop.svc',
      ports: [{ port: 80, appProtocol: 'kubernetes.io/h2c' }],
    },
  ],
  workloads: [
    {
      uid: 'pod-1',
      addresses: ['10.0.0.1'],
      region: 'r',
      zone: 'z',
      network: 'net-1',
      serviceAccount: 'cart',
      capacity: 3,
      healthy: true,
      services: [{ hostname: 'cart.shop.svc', namespace: 'shop', ports: [{ port: 80, targetPort: 8080 }] }],
    },
    {
      uid: 'pod-2',
      addresses: ['10.0.0.2'],
      healthy: false,
      services: [{ hostname: 'cart.shop.svc', namespace: 'shop', ports: [{ port: 80, targetPort: 8080 }] }],
    },
  ],
}

const INPUT = {
  figures: () => undefined,
  certificates: [],
  credentials: [],
  listenAddress: '::',
  place: {},
  version: { version: '1' },
  settings: { workers: 2 },
}

describe('configDump', () => {
  it('has exactly the documented top-level keys, also before the first configuration', () => {
    const keys = [
      'binds',
      'routes',
      'policies',
      'backends',
      'services',
      'workloads',
      'certificates',
      'credentials',
      'version',
      'config',
    ]
    expect(Object.keys(configDump({ ...INPUT, config: CONFIG }))).toEqual(keys)
    expect(configDump({ ...INPUT, config: undefined })).toMatchObject({ binds: [], version: { version: '1' } })
  })

  it('nests listeners and routes under their binds', () => {
    const { binds, routes } = configDump({ ...INPUT, config: CONFIG })
    expect(binds).toEqual([
      {
        key: '443/infra/edge',
        address: '[::]:443',
        protocol: 'tls',
        tunnelProtocol: 'direct',
        mode: 'standard',
        listeners: {
          'infra/edge.https': {
            key: 'infra/edge.https',
            gatewayName: 'edge',
            gatewayNamespace: 'infra',
            listenerName: 'https',
            hostname: '*.example.com',
            protocol: { HTTPS: null },
            routes: {
              'shop/cart.00.https': {
                key: 'shop/cart.00.https',
                name: 'cart',
                namespace: 'shop',
                ruleName: 'r',
                kind: 'HTTPRoute',
                hostnames: ['a.example.com'],
                matches: [
                  { path: { exact: '/x' }, headers: [{ name: 'authorization', value: { exact: '<redacted>' } }] },
                ],
                backends: [{ weight: 1, service: { name: 'shop/cart.shop.svc', port: 80 } }],
                inlinePolicies: [
                  {
                    requestHeaderModifier: {
                      set: [
                        { name: 'Authorization', value: '<redacted>' },
                        { name: 'x-plain', value: 'shown' },
                      ],
                    },
                  },
                ],
              },
            },
            tcpRoutes: {},
          },
        },
      },
    ])
    expect(routes).toEqual({
      httpMesh: {},
      tcpMesh: {},
      routeGroups: {
        'shop/group': { 'shop/sub.00': { key: 'shop/sub.00', name: 'sub', namespace: 'shop', kind: 'HTTPRoute' } },
      },
    })
  })

  it('shows the own transport of a bind', () => {
    const binds = CONFIG.binds.map((bind) => ({ ...bind, tunnelProtocol: 'Connect' as const }))
    expect(configDump({ ...INPUT, config: { ...CONFIG, binds } }).binds).toMatchObject([{ tunnelProtocol: 'connect' }])
  })

  it.each<[string, FrontendPayload | undefined, string]>([
    ['nothing', undefined, 'direct'],
    ['CONNECT denied', { connect: { mode: 'Deny' } }, 'direct'],
    ['CONNECT routed', { connect: { mode: 'Route' } }, 'direct'],
    ['CONNECT to listeners', { connect: { mode: 'Tunnel' } }, 'connect'],
    ['PROXY headers', { proxyProtocol: { version: 'All', mode: 'Strict' } }, 'proxy'],
    ['both', { proxyProtocol: { version: 'V1', mode: 'Optional' }, connect: { mode: 'Tunnel' } }, 'proxy'],
  ])('shows the transport of connections: %s', (_, frontend, expected) => {
    const target = { gateway: { namespace: 'infra', name: 'edge', port: 443 } }
    const name = { kind: 'GwPolicy', namespace: 'infra', name: 'f' }
    const policies = frontend === undefined ? [] : [{ key: 'f', name, target, policy: { frontend } }]
    expect(configDump({ ...INPUT, config: { ...CONFIG, policies } }).binds).toMatchObject([
      { tunnelProtocol: expected },
    ])
  })

  it('shows policies and backends sorted by key', () => {
    const { policies, backends } = configDump({ ...INPUT, config: CONFIG })
    expect(policies).toEqual([
      {
        key: 'a',
        name: { kind: 'GwPolicy', namespace: 'infra', name: 'a' },
        target: { gateway: { namespace: 'infra', name: 'edge' } },
        inheritance: 'override',
        policy: { traffic: { csrf: {}, phase: 'gateway' } },
      },
      {
        key: 'b',
        name: { kind: 'GwPolicy', namespace: 'shop', name: 'b' },
        target: { backend: { service: { hostname: 'cart.shop.svc', namespace: 'shop' } } },
        policy: { backend: { tcp: { connectTimeoutMs: 5 } } },
      },
    ])
    expect(backends).toEqual([
      { backend: { host: { name: 'api', namespace: 'shop', target: '[2001:db8::1]:443' } } },
      {
        backend: {
          ai: {
            name: 'llm',
            namespace: 'shop',
            target: {
              providers: [
                {
                  active: {
                    main: {
                      endpoint: { name: 'main', provider: { openai: { model: 'gpt' } }, hostOverride: 'h:1' },
                      capacity: 1,
                    },
                  },
                  rejected: {},
                },
              ],
            },
          },
        },
        inlinePolicies: [{ auth: { key: { secret: 'shop/llm/key' } } }],
      },
      {
        backend: {
          mcp: {
            name: 'tools',
            namespace: 'shop',
            target: {
              targets: [{ name: 'local', stdio: { cmd: 'run', env: { TOKEN: '<redacted>' } } }],
              stateful: true,
              prefixMode: 'conditional',
              failureMode: 'failClosed',
            },
          },
        },
      },
    ])
  })

  it('shows the figures of what providers and servers of tools are reached by', () => {
    const service = { hostname: 'cart.shop.svc', namespace: 'shop', port: 80 }
    const provider = { openai: {} }
    const groups = [
      {
        providers: [
          { name: 'by-service', provider, backendRef: { service } },
          { name: 'by-port', provider, backendRef: { service: { ...service, port: 81 } } },
          { name: 'by-backend', provider, backendRef: { backend: 'shop/api' } },
          { name: 'by-nothing', provider, backendRef: { backend: 'shop/none' } },
        ],
      },
    ]
    const figuresOf = (totalRequests: number, health: number): EndpointFigures => ({
      health,
      latencySeconds: 0,
      pendingRequests: 0,
      totalRequests,
      consecutiveFailures: 0,
      timesEjected: 0,
      evictedForMs: undefined,
      evictions: 0,
      lastEviction: undefined,
    })
    const known = new Map([
      ['service/shop/cart.shop.svc:80|10.0.0.1:8080', figuresOf(2, 1)],
      ['service/shop/cart.shop.svc:80|10.0.0.2:8080', figuresOf(3, 0.5)],
      ['shop/api|[2001:db8::1]:443', figuresOf(7, 1)],
    ])
    const name = { namespace: 'shop', name: 'llm' }
    const mcp = { sessionRouting: 'Stateful', prefixMode: 'Never', failureMode: 'FailClosed' } as const
    const own = [
      { key: 'shop/llm', name, ai: { groups } },
      { key: 'shop/mcp', name, mcp: { ...mcp, targets: [{ name: 'a', ref: { backend: 'shop/api' } }] } },
      ...CONFIG.backends.filter(({ key }) => key === 'shop/api'),
    ]
    const config = { ...CONFIG, backends: own }
    const { backends } = configDump({ ...INPUT, config, figures: (key) => known.get(key) })
    const info = (totalRequests: number, health: number): unknown => ({
      info: expect.objectContaining({ totalRequests, health }),
    })
    expect(backends.map(({ backend }) => backend)).toMatchObject([
      { host: info(7, 1) },
      {
        ai: {
          target: {
            providers: [{ active: { 'by-service': info(5, 0.5), 'by-backend': info(7, 1), 'by-port': {} } }],
          },
        },
      },
      { mcp: { target: { targets: [info(7, 1)] } } },
    ])
    expect(JSON.stringify(backends).match(/"info"/g)).toHaveLength(4)
  })

  it('shows services with their endpoints, and workloads', () => {
    const { services, workloads } = configDump({ ...INPUT, config: CONFIG })
    const endpoint = (uid: string, capacity: number): unknown => ({
      [uid]: { endpoint: { workloadUid: uid, port: { '80': 8080 } }, capacity },
    })
    expect(services).toMatchObject([
      {
        name: 'cart',
        ports: { '80': 8080 },
        appProtocols: { '80': 'kubernetes.io/h2c' },
        endpoints: [{ active: endpoint('pod-1', 3), rejected: endpoint('pod-2', 1) }],
      },
    ])
    expect(workloads).toMatchObject([
      {
        uid: 'pod-1',
        workloadIps: ['10.0.0.1'],
        serviceAccount: 'cart',
        node: '',
        network: 'net-1',
        locality: { region: 'r', zone: 'z', subzone: '' },
        capacity: 3,
        status: 'Healthy',
        services: { 'shop/cart.shop.svc': { '80': 8080 } },
      },
      { uid: 'pod-2', status: 'Unhealthy' },
    ])
  })

  it('shows endpoints in buckets as near as they are, and those too far away as rejected', () => {
    const service = { hostname: 'cart.shop.svc', namespace: 'shop', ports: [{ port: 80, targetPort: 8080 }] }
    const workload = (uid: string, zone: string, healthy = true) => ({
      uid,
      addresses: [uid],
      node: `n-${zone}`,
      zone,
      healthy,
      services: [service],
    })
    const workloads = [workload('far', 'b'), workload('near', 'a'), workload('ill', 'a', false)]
    const uids = (mode: 'Failover' | 'Strict', place: Locality): unknown => {
      const services = CONFIG.services.map((one) => ({
        ...one,
        locality: { preferences: ['Zone' as const], mode },
      }))
      const dump = configDump({ ...INPUT, place, config: { ...CONFIG, services, workloads } })
      return dump.services[0]?.endpoints.map(({ active, rejected }) => [Object.keys(active), Object.keys(rejected)])
    }
    expect(uids('Failover', { zone: 'a' })).toEqual([
      [['near'], ['ill']],
      [['far'], []],
    ])
    expect(uids('Failover', { node: 'n-b' })).toEqual([
      [['far'], []],
      [['near'], ['ill']],
    ])
    expect(uids('Failover', {})).toEqual([[['far', 'near'], ['ill']]])
    expect(uids('Strict', { zone: 'a' })).toEqual([[['near'], ['far', 'ill']]])
    expect(uids('Strict', { zone: 'c' })).toEqual([[[], ['far', 'near', 'ill']]])
  })

  it('never prints what may be a credential', () => {
    expect(JSON.stringify(configDump({ ...INPUT, config: CONFIG }))).not.toMatch(/hunter2|Bearer/)
  })
})
