// Labels of a Namespace: routes are attached again only if the verdict of a selector changes.
import { expect, it } from 'vitest'
import type { KubeObject } from '../kube.ts'
import { createSnapshotter } from '../snapshot.ts'
import { SETTINGS } from './translations.testing.ts'
import { createTranslator } from './translator.ts'

const GROUP = 'gateway.networking.k8s.io'

function object(kind: string, name: string, rest: object): KubeObject {
  const apiVersion = kind === 'Namespace' ? 'v1' : `${GROUP}/v1`
  const place = kind === 'Namespace' ? {} : { namespace: 'a' }
  return { apiVersion, kind, metadata: { name, ...place, generation: 1 }, ...rest }
}

const selector = { matchLabels: { team: 'blue' } }
const listener = {
  name: 'http',
  port: 80,
  protocol: 'HTTP',
  allowedRoutes: { namespaces: { from: 'Selector', selector } },
}
const OTHERS = [
  [object('GatewayClass', 'gw', { spec: { controllerName: SETTINGS.controllerName } })],
  [object('Gateway', 'g', { spec: { gatewayClassName: 'gw', listeners: [listener] } })],
  [object('HTTPRoute', 'r', { spec: { parentRefs: [{ name: 'g' }], rules: [{}] } })],
]

it('leaves a translation as it is while a selector still selects the Namespace', () => {
  const [snapshots, translator] = [createSnapshotter(), createTranslator(SETTINGS)]
  const translated = (labels: Readonly<Record<string, string>>) =>
    translator.translate(snapshots(...OTHERS, [{ ...object('Namespace', 'a', {}), metadata: { name: 'a', labels } }]))
  const routes = (labels: Readonly<Record<string, string>>) => translated(labels).perGateway.get('a/g')?.config.routes
  const first = routes({ team: 'blue' })
  expect(first).toHaveLength(1)
  expect(routes({ team: 'blue', other: 'label' })).toBe(first)
  expect(translated({ team: 'blue' }).statuses).toBe(translated({ team: 'blue', round: '2' }).statuses)
  expect(routes({ team: 'red' })).toEqual([])
  expect(routes({ team: 'blue', back: 'yes' })).toEqual(first)
})
