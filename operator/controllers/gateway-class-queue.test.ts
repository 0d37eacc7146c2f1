import { expect, it } from 'vitest'
import { GatewayClassQueue } from './gateway-class-queue.ts'
import { kubeForEachTest, NotedKeys, queueWorld, runAgainst, storedObjects } from './queue-world.testing.ts'

const kube = kubeForEachTest()

it('writes its class at the start, when it changes and when it is missing', async () => {
  const { world, cache } = queueWorld()
  const keys = new NotedKeys()
  const queue = new GatewayClassQueue(world, keys)
  queue.start()
  queue.lookForDue()
  queue.classChanged('gw')
  queue.classChanged('other')
  expect(keys.taken()).toEqual(['gw', 'gw', 'gw'])
  await runAgainst(kube(), queue.run())
  const [made] = storedObjects(kube(), 'gatewayclasses.gateway.networking.k8s.io')
  expect(made?.metadata.name).toBe('gw')
  if (made !== undefined) cache.put('GatewayClass', made)
  queue.lookForDue()
  expect(keys.taken()).toEqual([])
})
