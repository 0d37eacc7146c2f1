// A second translation of manifests keeps unchanged objects.
import { expect, it } from 'vitest'
import type { KubeObject } from '#operator/translate/kube.ts'
import { manifestTranslator } from './translator.ts'

const CONTROLLER = 'gw.dev/controller'

/** New objects each time, as if read from files. */
function manifests(hostname: string): KubeObject[] {
  const route = (name: string, host: string): object => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, namespace: 'default' },
    spec: { parentRefs: [{ name: 'web' }], hostnames: [host], rules: [{ matches: [{ path: { value: '/' } }] }] },
  })
  const listeners = [{ name: 'http', port: 8080, protocol: 'HTTP' }]
  const objects = [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: CONTROLLER },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'web', namespace: 'default' },
      spec: { gatewayClassName: 'gw', listeners },
    },
    route('steady', 'steady.example'),
    route('changed', hostname),
  ]
  // Hand-made objects with the fields that every object has.
  return objects as unknown as KubeObject[]
}

it('keeps unchanged objects', () => {
  const translate = manifestTranslator({ controllerName: CONTROLLER, className: 'gw', clusterDomain: 'cluster.local' })
  const configOf = (hostname: string) =>
    translate(manifests(hostname)).translation.perGateway.get('default/web')?.config
  const first = configOf('a.example')
  expect(first?.routes.map(({ hostnames }) => hostnames)).toEqual([['a.example'], ['steady.example']])
  expect(configOf('a.example')).toBe(first)
  const second = configOf('b.example')
  expect(second).not.toBe(first)
  expect(second?.routes[0]?.hostnames).toEqual(['b.example'])
  expect(second?.routes[1]).toBe(first?.routes[1])
})
