// Policies on targets that other policies lead to.
import { expect, it } from 'vitest'
import { SETTINGS } from '../cluster/translations.testing.ts'
import { translate } from '../cluster/translate.ts'
import type { KubeObject } from '../kube.ts'
import { snapshotOf } from '../snapshot.ts'

const GROUP = 'gateway.networking.k8s.io'

function object(kind: string, name: string, rest: object): KubeObject {
  const apiVersion = { Service: 'v1', GwPolicy: 'gw.dev/v1alpha1' }[kind] ?? `${GROUP}/v1`
  return { apiVersion, kind, metadata: { name, namespace: 'a', generation: 1 }, ...rest }
}

function leading(name: string, [from, to]: readonly [string, string]): KubeObject {
  const backend = { extAuth: { backendRef: { name: to, port: 80 }, grpc: {} } }
  return object('GwPolicy', name, { spec: { targetRefs: [{ group: '', kind: 'Service', name: from }], backend } })
}

it('follows policies along a chain of any length, whatever their order', () => {
  const names = ['s0', 's1', 's2', 's3', 's4', 's5']
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  const { perGateway } = translate(
    snapshotOf([
      object('GatewayClass', 'gw', { spec: { controllerName: SETTINGS.controllerName } }),
      object('Gateway', 'g', { spec: { gatewayClassName: 'gw', listeners } }),
      object('HTTPRoute', 'r', {
        spec: { parentRefs: [{ name: 'g' }], rules: [{ backendRefs: [{ name: 's0', port: 80 }] }] },
      }),
      ...names.map((name) => object('Service', name, { spec: { ports: [{ port: 80 }] } })),
      // The first one in order has the target that is reached last; two lead back to the start and to itself.
      leading('p0', ['s3', 's4']),
      leading('p1', ['s2', 's3']),
      leading('p2', ['s1', 's2']),
      leading('p3', ['s0', 's1']),
      leading('p4', ['s4', 's0']),
      leading('p5', ['s5', 's5']),
    ]),
    SETTINGS,
  )
  const config = perGateway.get('a/g')?.config
  expect(config?.services.map(({ name }) => name)).toEqual(['s0', 's1', 's2', 's3', 's4'])
  expect(config?.policies.map(({ name }) => name.name).sort()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4'])
})
