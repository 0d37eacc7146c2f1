import { Effect } from 'effect'
import { expect, it } from 'vitest'
import { deliveryNames } from '#api/delivery/names.ts'
import { PublishQueue } from './publish-queue.ts'
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
import { DELIVERED_CONFIG_MAP } from './sources.ts'

const kube = kubeForEachTest()

function made() {
  const all = queueWorld()
  const keys = new NotedKeys()
  const problems: string[] = []
  const onProblem = (key: string): unknown => problems.push(key)
  return { ...all, keys, problems, queue: new PublishQueue({ ...all, keys, onProblem, onUsers: () => {} }) }
}

it('takes Gateways that were rendered again, and those that are gone', () => {
  const { queue, keys } = made()
  queue.rendered({ key: 'shop/web', before: undefined, after: rendered(80) })
  queue.rendered({ key: 'shop/old', before: rendered(80), after: undefined })
  expect(keys.taken()).toEqual(['shop/web', 'shop/old'])
})

it('statuses wait until a newly rendered Gateway was published', async () => {
  const { queue } = made()
  const isTheirTurn = (): Promise<boolean> =>
    Effect.runPromise(
      Effect.race(
        Effect.as(queue.turnOfStatuses.come('HTTPRoute shop/cart'), true),
        Effect.as(Effect.sleep(20), false),
      ),
    )
  queue.rendered({ key: 'shop/web', before: undefined, after: rendered(80) })
  expect(await isTheirTurn()).toBe(false)
  // No longer there by now: nothing is written.
  await runAgainst(kube(), queue.run('shop/web'))
  expect(await isTheirTurn()).toBe(true)
})

it('writes the configuration, and runs again when another client changes it', async () => {
  const all = made()
  const gateway = addGateway(all, 'web')
  await runAgainst(kube(), all.queue.run('shop/web'))
  const name = deliveryNames('web').config[0]
  const object = storedObjects(kube(), 'configmaps').find(({ metadata }) => metadata.name === name)
  if (object === undefined) throw new Error('nothing was written')
  all.queue.deliveredChanged('shop/web', object, changeOf(DELIVERED_CONFIG_MAP, object))
  expect(all.keys.taken()).toEqual([])
  const touched = { ...object, metadata: { ...object.metadata, resourceVersion: '99999' } }
  all.queue.deliveredChanged('shop/web', touched, changeOf(DELIVERED_CONFIG_MAP, touched))
  expect(all.keys.taken()).toEqual(['shop/web'])
  all.queue.deliveredChanged('shop/other', touched, changeOf(DELIVERED_CONFIG_MAP, gateway))
  expect([all.keys.taken(), all.problems]).toEqual([[], []])
})

it('reports once why it cannot publish, retries, and reports when it can', async () => {
  const all = made()
  addGateway(all, 'web')
  const name = deliveryNames('web').config[0] ?? ''
  const stranger = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data: { a: 'b' } }
  kube().store.create('configmaps', stranger)
  for (let count = 0; count < 2; count++) await runAgainst(kube(), all.queue.run('shop/web'))
  expect(all.problems).toEqual(['shop/web'])
  expect(all.queue.troubleOf('shop/web')?.problem).toContain(name)
  all.queue.lookForDue(0)
  expect(all.keys.taken()).toContain('shop/web')
  kube().store.delete('configmaps', `shop/${name}`)
  await runAgainst(kube(), all.queue.run('shop/web'))
  expect([all.problems, all.queue.troubleOf('shop/web')?.problem]).toEqual([['shop/web', 'shop/web'], undefined])
})

it('reads only objects that exist, and reads those of a former leader', async () => {
  const all = made()
  addGateway(all, 'web')
  const reads = (): string[] =>
    kube()
      .requests.filter(({ method, path }) => method === 'GET' && /web-(config|endpoints|secrets)/.test(path))
      .map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
      .sort()
  kube().requests.length = 0
  await runAgainst(kube(), all.queue.run('shop/web'))
  expect(reads()).toEqual(['web-config', 'web-endpoints', 'web-secrets'])
  const stored = storedObjects(kube(), 'configmaps').length
  const next = made()
  addGateway(next, 'web')
  await runAgainst(kube(), next.queue.run('shop/web'))
  expect(storedObjects(kube(), 'configmaps')).toHaveLength(stored)
})
