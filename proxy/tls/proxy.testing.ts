// A real proxy with TLS and TCP ports for tests; not used by the proxy.
import type {
  Backend,
  Bind,
  Listener,
  ListenerTLS,
  Policy,
  RenderedConfig,
  RenderedSecrets,
  Route,
  TCPRoute,
} from '#api/ir/types.gen.ts'
import { type ProxyOptions, type RunningProxy, startProxy } from '#proxy/main.ts'

/** PEM. */
export interface TestPair {
  readonly certificate: string
  readonly privateKey: string
}

export interface TestListener {
  readonly name: string
  readonly port: number
  readonly protocol: Listener['protocol']
  readonly hostname?: string
  readonly pair?: TestPair
  readonly tls?: ListenerTLS
  /** HTTP without backends: the body it answers by direct response, or an expression behind `=`. */
  readonly answers?: string
  readonly backends?: readonly (readonly [name: string, weight: number])[]
  /** Of its TLSRoute. */
  readonly routeHostnames?: readonly string[]
}

export interface TestSetup {
  readonly listeners: readonly TestListener[]
  readonly backends?: Readonly<Record<string, Omit<Backend, 'key' | 'name'>>>
  readonly policies?: readonly Policy['policy'][]
  readonly secrets?: Readonly<Record<string, string>>
}

export interface TlsTestProxy {
  readonly proxy: RunningProxy
  /** Applies another configuration; gives its warnings. */
  apply(setup: TestSetup): Promise<readonly string[]>
  stop(): Promise<void>
  /** Sum over all series of a metric with these labels. */
  metric(name: string, labels?: string): Promise<number>
}

const LOOPBACK = { host: '127.0.0.1', port: 0 }

/** `more`: settings of the process. */
export async function startTlsProxy(setup: TestSetup, workers = 1, more: ProxyOptions = {}): Promise<TlsTestProxy> {
  const proxy = await startProxy({
    workers,
    listenAddress: '127.0.0.1',
    admin: LOOPBACK,
    stats: LOOPBACK,
    readiness: LOOPBACK,
    accessLog: false,
    logLevel: 'error',
    dynamicForwardAllow: ['127.0.0.1'],
    sessionKeys: [Buffer.alloc(32, 7)],
    ...more,
  })
  const apply = async (next: TestSetup): Promise<readonly string[]> => {
    const applied = await proxy.apply(configOf(next), secretsOf(next))
    if ('problem' in applied) throw new Error(applied.problem.message)
    return applied.warnings
  }
  const stop = (): Promise<void> => proxy.stop({ isForced: true })
  try {
    await apply(setup)
  } catch (error) {
    await stop()
    throw error
  }
  const metric = async (name: string, labels = ''): Promise<number> => {
    const { stats } = proxy.ports
    const text = await (await fetch(`http://127.0.0.1:${stats}/metrics`)).text()
    const lines = text.split('\n').filter((line) => line.startsWith(name) && line.includes(labels))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }
  return { proxy, apply, stop, metric }
}

export function configOf({ listeners, backends = {}, policies = [] }: TestSetup): RenderedConfig {
  return {
    version: 2,
    binds: bindsOf(listeners),
    listeners: listeners.map(listenerOf),
    routes: listeners.flatMap(httpRoutes),
    tcpRoutes: listeners.flatMap(tcpRoutes),
    backends: Object.entries(backends).map(([name, backend]) => ({
      key: `ns/${name}`,
      name: { namespace: 'ns', name },
      ...backend,
    })),
    policies: policies.map((policy, index) => ({
      key: `policy-${index}`,
      name: { kind: 'GwPolicy', namespace: 'ns', name: `p${index}` },
      target: { gateway: { namespace: 'ns', name: 'gw' } },
      policy,
    })),
    services: [],
    workloads: [],
  }
}

function secretsOf({ listeners, secrets = {} }: TestSetup): RenderedSecrets {
  const pairs = listeners.flatMap(({ name, pair }) =>
    pair === undefined
      ? []
      : [
          { key: `ns/${name}/tls.crt`, value: pair.certificate },
          { key: `ns/${name}/tls.key`, value: pair.privateKey },
        ],
  )
  const others = Object.entries(secrets).map(([key, value]) => ({ key, value }))
  return { version: 1, secrets: [...pairs, ...others] }
}

function bindsOf(listeners: readonly TestListener[]): Bind[] {
  const byPort = new Map<number, Bind>()
  for (const { port, protocol } of listeners) {
    const isTls = protocol === 'HTTPS' || protocol === 'TLS' || protocol === 'HBONE'
    const own: Exclude<Bind['protocol'], undefined> = isTls ? 'TLS' : protocol
    byPort.set(port, { key: `${port}/ns/gw`, port, protocol: own })
  }
  return [...byPort.values()]
}

function listenerOf({ name, port, protocol, hostname, pair, tls }: TestListener): Listener {
  const refs = { certificate: { secret: `ns/${name}/tls.crt` }, privateKey: { secret: `ns/${name}/tls.key` } }
  return {
    key: `ns/gw.${name}`,
    bindKey: `${port}/ns/gw`,
    name: { gatewayNamespace: 'ns', gatewayName: 'gw', listenerName: name },
    protocol,
    ...(hostname !== undefined && { hostname }),
    ...((pair !== undefined || tls !== undefined) && {
      tls: { mode: 'Terminate' as const, ...(pair !== undefined && refs), ...tls },
    }),
  }
}

function httpRoutes({ name, answers, protocol, backends }: TestListener): Route[] {
  if (protocol !== 'HTTP' && protocol !== 'HTTPS') return []
  const route = { key: `ns/${name}.00.${name}`, listenerKey: `ns/gw.${name}`, hostnames: [], matches: [] }
  const routeName = { kind: 'HTTPRoute', namespace: 'ns', name } as const
  if (backends !== undefined) {
    const refs = backends.map(([backend, weight]) => ({ weight, ref: { backend: `ns/${backend}` } }))
    return [{ ...route, name: routeName, backends: refs }]
  }
  const body = answers ?? name
  return [
    {
      ...route,
      name: routeName,
      backends: [],
      inlinePolicies: {
        directResponse: body.startsWith('=') ? { status: 200, bodyExpression: body.slice(1) } : { status: 200, body },
      },
    },
  ]
}

function tcpRoutes({ name, protocol, backends, routeHostnames }: TestListener): TCPRoute[] {
  if (backends === undefined || protocol === 'HTTP' || protocol === 'HTTPS' || protocol === 'HBONE') return []
  return [
    {
      key: `1700000000/ns/${name}.00.${name}`,
      listenerKey: `ns/gw.${name}`,
      kind: protocol === 'TLS' ? 'TLSRoute' : 'TCPRoute',
      name: { namespace: 'ns', name },
      hostnames: [...(routeHostnames ?? [])],
      backends: backends.map(([backend, weight]) => ({ weight, ref: { backend: `ns/${backend}` } })),
    },
  ]
}
