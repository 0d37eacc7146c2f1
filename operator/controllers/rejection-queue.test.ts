import { expect, it } from 'vitest'
import { addGateway, kubeForEachTest, NotedKeys, queueWorld, runAgainst } from './queue-world.testing.ts'
import { RejectionQueue } from './rejection-queue.ts'
import { ACKNOWLEDGEMENTS } from './sources.ts'

const kube = kubeForEachTest()

it('counts each configuration that a proxy rejects once', async () => {
  const all = queueWorld()
  const counts: number[] = []
  const world = { ...all.world, observer: { ...all.world.observer, rejected: (count: number) => counts.push(count) } }
  const keys = new NotedKeys()
  const queue = new RejectionQueue({ world, gateways: all.gateways, keys })
  addGateway(all, 'web')
  queue.start()
  queue.acknowledged('shop/web')
  expect(keys.taken()).toEqual(['shop/web', 'shop/web'])
  const rejected = { generation: 2, message: 'no such backend' }
  const word = { generation: 1, gatewayGeneration: 1, gatewayUid: '', revision: '', reads: 2, rejected }
  const metadata = { name: 'web-acknowledgements', namespace: 'shop' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'web-1': JSON.stringify(word) } }
  all.cache.put(ACKNOWLEDGEMENTS, object)
  for (const key of ['shop/web', 'shop/web', 'shop/gone']) await runAgainst(kube(), queue.run(key))
  expect(counts).toEqual([1, 0])
})
