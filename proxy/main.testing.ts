// A real proxy for tests: one listener on loopback, one route for everything, any backend.
import type { Backend, BackendPayload, Policy, RenderedConfig, RenderedSecrets, Route } from '#api/ir/types.gen.ts'
import { type ProxyOptions, startProxy, type RunningProxy } from '#proxy/main.ts'
import type { OtlpEnvironment } from '#proxy/otlp/environment.ts'
import { freePort } from '../test/ports.ts'

export interface TestProxy {
  readonly url: string
  readonly port: number
  readonly proxy: RunningProxy
  readonly config: RenderedConfig
  stop(): Promise<void>
}

export interface TestRoute {
  readonly name: string
  readonly prefix: string
  readonly backend: Omit<Backend, 'key' | 'name'>
  readonly inline?: Route['inlinePolicies']
  readonly backendInline?: BackendPayload
}

export interface TestProxyOptions {
  readonly routes: readonly TestRoute[]
  readonly policies?: readonly Policy[]
  readonly secrets?: Readonly<Record<string, string>>
  readonly sessionKey?: Uint8Array
  readonly workers?: number
  /** As the environment says it. */
  readonly otlp?: OtlpEnvironment
  /** Of the process. */
  readonly settings?: ProxyOptions
  /** Last changes to the configuration. */
  readonly change?: (config: RenderedConfig) => RenderedConfig
}

const LOOPBACK = { host: '127.0.0.1', port: 0 }

/** For `startProxy`: one worker, and servers of its own on ports that the system chooses. */
export const ON_LOOPBACK = {
  workers: 1,
  listenAddress: '127.0.0.1',
  admin: LOOPBACK,
  stats: LOOPBACK,
  readiness: LOOPBACK,
} as const

export async function testProxy(options: TestProxyOptions): Promise<TestProxy> {
  const port = await freePort()
  const proxy = await startProxy({
    ...ON_LOOPBACK,
    workers: options.workers ?? 1,
    accessLog: false,
    logLevel: 'error',
    sessionKeys: options.sessionKey && [options.sessionKey],
    otlp: options.otlp,
    ...options.settings,
  })
  const config = configFor(port, options)
  const secrets: RenderedSecrets = {
    version: 1,
    secrets: Object.entries(options.secrets ?? {}).map(([key, value]) => ({ key, value })),
  }
  const applied = await proxy.apply(config, secrets)
  if ('problem' in applied) {
    await proxy.stop({ isForced: true })
    throw new Error(applied.problem.message)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    proxy,
    config,
    stop: () => proxy.stop({ isForced: true }),
  }
}

export function configFor(port: number, options: TestProxyOptions): RenderedConfig {
  const { routes, policies = [], change = (config) => config } = options
  return change({
    version: 2,
    binds: [{ key: `${port}/ns/gw`, port }],
    listeners: [
      {
        key: 'ns/gw.http',
        bindKey: `${port}/ns/gw`,
        name: { gatewayNamespace: 'ns', gatewayName: 'gw', listenerName: 'http' },
        protocol: 'HTTP',
      },
    ],
    routes: routes.map(({ name, prefix, inline, backendInline }): Route => {
      const backends = [
        { weight: 1, ref: { backend: `ns/${name}` }, ...(backendInline && { inlinePolicies: backendInline }) },
      ]
      return {
        key: `ns/${name}.00.http`,
        listenerKey: 'ns/gw.http',
        name: { kind: 'HTTPRoute', namespace: 'ns', name },
        hostnames: [],
        matches: [{ path: { pathPrefix: prefix } }],
        backends,
        ...(inline && { inlinePolicies: inline }),
      }
    }),
    tcpRoutes: [],
    backends: routes.map(({ name, backend }) => ({ key: `ns/${name}`, name: { namespace: 'ns', name }, ...backend })),
    policies: [...policies],
    services: [],
    workloads: [],
  })
}
