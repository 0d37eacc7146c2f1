// Manifests of a gateway that forwards requests to the backends of a test, for tests without a sample.
import { stringify } from 'yaml'

export interface Forwarding {
  readonly port: number
  /** Specs of GwBackends. Requests whose path begins with a name go there. */
  readonly backends: Readonly<Record<string, object>>
  /** PEM, in ConfigMaps of these names. */
  readonly authorities?: Readonly<Record<string, string>>
}

const API = 'gateway.networking.k8s.io/v1'

export function forwarding({ port, backends, authorities = {} }: Forwarding): string {
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
  const rules = Object.keys(backends).map((name) => ({
    matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
    backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name }],
  }))
  const objects = [
    { apiVersion: API, kind: 'GatewayClass', ...named('gw'), spec: { controllerName: 'gw.dev/controller' } },
    { apiVersion: API, kind: 'Gateway', ...named('gw'), spec: { gatewayClassName: 'gw', listeners } },
    { apiVersion: API, kind: 'HTTPRoute', ...named('all'), spec: { parentRefs: [{ name: 'gw' }], rules } },
    ...Object.entries(backends).map(([name, spec]) => ({
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      ...named(name),
      spec,
    })),
    ...Object.entries(authorities).map(([name, pem]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...named(name),
      data: { 'ca.crt': pem },
    })),
  ]
  return objects.map((object) => stringify(object)).join('---\n')
}

function named(name: string): { readonly metadata: object } {
  return { metadata: { name, namespace: 'default' } }
}
