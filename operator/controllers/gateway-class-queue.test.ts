import { Effect, Fiber, Layer } from 'effect'
import { TestClock } from 'effect/testing'
import { expect, it } from 'vitest'
import { KubeClient } from '../kube/client.ts'
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

it('creates a deleted class again after a pause, in which an uninstalled controller ends', async () => {
  const { world, cache } = queueWorld()
  const queue = new GatewayClassQueue(world, new NotedKeys())
  const own = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata: { name: 'gw' } }
  cache.put('GatewayClass', own)
  queue.start()
  let applied = 0
  const client = Layer.mock(KubeClient, { apply: (object) => Effect.sync(() => (applied++, object)) })
  const body = Effect.gen(function* () {
    yield* queue.run()
    expect(applied).toBe(1)
    cache.remove('GatewayClass', own)
    queue.classChanged('gw')
    const again = yield* Effect.forkChild(queue.run())
    yield* TestClock.adjust('4 seconds')
    expect(applied).toBe(1)
    yield* TestClock.adjust('1 second')
    yield* Fiber.join(again)
    expect(applied).toBe(2)
  })
  await Effect.runPromise(body.pipe(Effect.provide([client, TestClock.layer()])))
})
