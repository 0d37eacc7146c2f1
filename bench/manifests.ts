// Manifests of routes for `make bench`.

/** A route of the Gateway at the path of its name, to a GwBackend. */
export function routeAt(name: string, backend: string): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name },
    spec: {
      parentRefs: [{ name: 'bench' }],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: `/${name}/` } }],
          backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: backend }],
        },
      ],
    },
  }
}
