// Objects that a case adds to a sample, such as Services: a cluster has them, a sample does not need them.
import { stringify } from 'yaml'

export function adding(...objects: readonly object[]): (manifests: string) => string {
  return (manifests) => [manifests, ...objects.map((object) => stringify(object))].join('---\n')
}

export interface LocalService {
  readonly name: string
  readonly namespace?: string
  /** The port of the server on this host, as in the samples. */
  readonly targetPort: number
  readonly appProtocol?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Port 80 of a Service, and the one endpoint behind it. */
export function localService(service: LocalService): readonly [service: object, slice: object] {
  const { name, namespace = 'default', targetPort, appProtocol, labels = {}, annotations = {} } = service
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels, annotations },
      spec: { ports: [{ name: 'main', port: 80, ...(appProtocol !== undefined && { appProtocol }) }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'main', port: targetPort }],
      endpoints: [{ addresses: ['127.0.0.1'], targetRef: { kind: 'Pod', name } }],
    },
  ]
}
