// Small rendered configurations and waiting helpers for the tests of the runtime.
import { setTimeout as delay } from 'node:timers/promises'
import type { RenderedConfig, RenderedSecrets, Route } from '#api/ir/types.gen.ts'

export { freePort } from '#test/ports.ts'

export const NO_SECRETS: RenderedSecrets = { version: 1, secrets: [] }

/** One listener on each port, answering every request with `body`. */
export function answering(ports: readonly number[], body: string, bindPrefix = ''): RenderedConfig {
  return routed(ports, { backends: [], inlinePolicies: { directResponse: { status: 200, body } } }, bindPrefix)
}

/** One listener on each port, all traffic to a backend on loopback. */
export function relaying(ports: readonly number[], backendPort: number): RenderedConfig {
  const rule = { backends: [{ weight: 1, ref: { backend: 'shop/static' } }] }
  const host = '127.0.0.1'
  return {
    ...routed(ports, rule, ''),
    backends: [
      { key: 'shop/static', name: { namespace: 'shop', name: 'static' }, static: { host, port: backendPort } },
    ],
  }
}

type Rule = Pick<Route, 'backends' | 'inlinePolicies'>

function routed(ports: readonly number[], rule: Rule, bindPrefix: string): RenderedConfig {
  const gateway = { gatewayNamespace: 'infra', gatewayName: 'edge' }
  return {
    version: 2,
    binds: ports.map((port) => ({ key: `${bindPrefix}${port}/infra/edge`, port })),
    listeners: ports.map((port) => ({
      key: `infra/edge.http-${port}`,
      bindKey: `${bindPrefix}${port}/infra/edge`,
      name: { ...gateway, listenerName: `http-${port}` },
      protocol: 'HTTP',
    })),
    routes: ports.map((port) => ({
      key: `shop/all.00.http-${port}`,
      listenerKey: `infra/edge.http-${port}`,
      name: { kind: 'HTTPRoute', namespace: 'shop', name: 'all' },
      hostnames: [],
      matches: [{ path: { pathPrefix: '/' } }],
      ...rule,
    })),
    tcpRoutes: [],
    backends: [],
    policies: [],
    services: [],
    workloads: [],
  }
}

const DEADLINE_MS = 30_000

/** Waits until `isTrue`; throws with `what` after the deadline. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`timeout while waiting: ${what}`)
    await delay(5)
  }
}
