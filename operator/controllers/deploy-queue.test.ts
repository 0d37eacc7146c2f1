import { expect, it } from 'vitest'
import { sessionKeyName } from '#deployer/session-key.ts'
import { DeployQueue } from './deploy-queue.ts'
import {
  addGateway,
  changeOf,
  kubeForEachTest,
  NotedKeys,
  queueWorld,
  rendered,
  runAgainst,
  storedObjects,
} from './queue-world.testing.ts'

const kube = kubeForEachTest()

function made() {
  const all = queueWorld()
  const keys = new NotedKeys()
  const problems: string[] = []
  return { ...all, keys, problems, queue: new DeployQueue({ ...all, keys, onProblem: (key) => problems.push(key) }) }
}

it('takes a Gateway whose ports have changed, and one that is gone', () => {
  const { queue, keys } = made()
  const [before, same] = [rendered(80), rendered(80)]
  queue.rendered({ key: 'shop/same', before, after: same })
  expect(keys.taken()).toEqual([])
  queue.rendered({ key: 'shop/new', before: undefined, after: before })
  queue.rendered({ key: 'shop/ports', before, after: rendered(81) })
  queue.rendered({ key: 'shop/gone', before, after: undefined })
  expect(keys.taken()).toEqual(['shop/new', 'shop/ports', 'shop/gone'])
})

it('takes all Gateways when parameters or classes change, and none for other objects', () => {
  const all = made()
  addGateway(all, 'one')
  addGateway(all, 'two')
  for (const kind of ['GwParameters', 'GatewayClass']) {
    const object = { apiVersion: 'v1', kind, metadata: { name: 'x', namespace: 'shop' } }
    all.queue.inputChanged(object, changeOf(kind, object))
    expect(all.keys.taken()).toEqual(['shop/one', 'shop/two'])
  }
  for (const [kind, name] of [
    ['Secret', sessionKeyName('one')],
    ['ConfigMap', 'x'],
  ] as const) {
    const object = { apiVersion: 'v1', kind, metadata: { name, namespace: 'shop' } }
    all.queue.inputChanged(object, changeOf(kind, object))
    expect(all.keys.taken()).toEqual([])
  }
})

it('creates the objects, and runs again when another client changes one', async () => {
  const all = made()
  addGateway(all, 'web')
  const spec = { controllerName: 'gw.dev/controller' }
  const gatewayClass = { apiVersion: 'v1', kind: 'GatewayClass', metadata: { name: 'gw' }, spec }
  all.cache.put('GatewayClass', gatewayClass)
  await runAgainst(kube(), all.queue.run('shop/web'))
  const [deployment] = storedObjects(kube(), 'deployments.apps')
  if (deployment === undefined) throw new Error('nothing was deployed')
  expect([all.queue.problemsOf('shop/web'), all.queue.failureOf('shop/web')]).toEqual([[], undefined])
  all.keys.taken()
  all.queue.deployedChanged('shop/web', deployment, changeOf('Deployment', deployment))
  expect(all.keys.taken()).toEqual([])
  const touched = { ...deployment, metadata: { ...deployment.metadata, resourceVersion: '99999' } }
  all.queue.deployedChanged('shop/web', touched, changeOf('Deployment', touched, { isStatusOnly: true }))
  expect(all.keys.taken()).toEqual([])
  all.queue.deployedChanged('shop/web', touched, changeOf('Deployment', touched))
  expect(all.keys.taken()).toEqual(['shop/web'])
})
