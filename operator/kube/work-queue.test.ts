import { it } from '@effect/vitest'
import { Clock, Effect } from 'effect'
import { TestClock } from 'effect/testing'
import { describe, expect } from 'vitest'
import { KubeClient } from './client.ts'
import { KubeUnreachable } from './errors.ts'
import { makeWorkQueue, type WorkQueueOptions } from './work-queue.ts'

/** Work here asks nothing of the API server. */
const NO_CLIENT = {} as KubeClient['Service']

const queueOf = (options: Pick<WorkQueueOptions, 'work'> & Partial<WorkQueueOptions>) =>
  makeWorkQueue({
    name: 'test',
    component: 'test',
    concurrency: 1,
    observe: () => undefined,
    observeRunning: () => undefined,
    ...options,
  })

describe('a work queue', () => {
  it.effect('runs the single key of a namespace second, however many keys another one has', () =>
    Effect.gen(function* () {
      const runs: string[] = []
      const queue = yield* queueOf({
        work: (key) =>
          Effect.andThen(
            Effect.sleep('1 second'),
            Effect.sync(() => runs.push(key)),
          ),
      })
      for (let index = 0; index < 1000; index++) queue.add(`HTTPRoute noisy/${index}`)
      queue.add('HTTPRoute quiet/only')
      yield* TestClock.adjust('3 seconds')
      expect(runs.slice(0, 3)).toEqual(['HTTPRoute noisy/0', 'HTTPRoute quiet/only', 'HTTPRoute noisy/1'])
    }).pipe(Effect.provideService(KubeClient, NO_CLIENT), Effect.scoped),
  )

  it.effect('runs a key again that changed while it ran, and is idle at the end', () =>
    Effect.gen(function* () {
      let runs = 0
      const queue = yield* queueOf({
        work: () =>
          Effect.andThen(
            Effect.sleep('1 second'),
            Effect.sync(() => runs++),
          ),
      })
      queue.add('shop/web')
      yield* TestClock.adjust('10 millis')
      for (let index = 0; index < 3; index++) queue.add('shop/web')
      expect(queue.isIdle()).toBe(false)
      yield* TestClock.adjust('5 seconds')
      expect(runs).toBe(2)
      expect(queue.isIdle()).toBe(true)
    }).pipe(Effect.provideService(KubeClient, NO_CLIENT), Effect.scoped),
  )

  it.effect('runs a key at once whatever slow namespaces there are, up to one for each halving of its places', () =>
    Effect.gen(function* () {
      const ended = new Map<string, number>()
      const queue = yield* queueOf({
        concurrency: 16,
        work: (key) =>
          Effect.gen(function* () {
            yield* Effect.sleep(key.startsWith('slow') ? '10 seconds' : '20 millis')
            ended.set(key, yield* Clock.currentTimeMillis)
          }),
      })
      for (let index = 0; index < 100; index++) for (const slow of ['slow-a', 'slow-b']) queue.add(`${slow}/${index}`)
      yield* TestClock.adjust('1 second')
      const begun = yield* Clock.currentTimeMillis
      for (let index = 0; index < 10; index++) queue.add(`quick/${index}`)
      yield* TestClock.adjust('100 millis')
      const waits = [...ended].map(([, at]) => at - begun)
      expect(ended.size).toBe(10)
      expect(Math.max(...waits)).toBeLessThanOrEqual(100)
    }).pipe(Effect.provideService(KubeClient, NO_CLIENT), Effect.scoped),
  )

  it.effect('gives one namespace half of its places, and all keys their run', () =>
    Effect.gen(function* () {
      let [running, most, ended] = [0, 0, 0]
      const queue = yield* queueOf({
        concurrency: 16,
        work: () =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Effect.sleep('1 second')
            running--
            ended++
          }),
      })
      for (let index = 0; index < 80; index++) queue.add(`only/${index}`)
      yield* TestClock.adjust('11 seconds')
      expect([most, ended, queue.isIdle()]).toEqual([8, 80, true])
    }).pipe(Effect.provideService(KubeClient, NO_CLIENT), Effect.scoped),
  )

  it.effect('limits retries by namespace: failures of one do not use up those of another', () =>
    Effect.gen(function* () {
      const runs = new Map<string, number>()
      const queue = yield* queueOf({
        concurrency: 8,
        retryLimit: { perSecond: 0.01, burst: 1 },
        work: (key) => {
          runs.set(key, (runs.get(key) ?? 0) + 1)
          return Effect.fail(new KubeUnreachable({ method: 'GET', path: '/', cause: 'reset' }))
        },
      })
      for (let index = 0; index < 100; index++) queue.add(`noisy/${index}`)
      queue.add('quiet/only')
      for (let second = 0; second < 20; second++) yield* TestClock.adjust('1 second')
      expect(runs.size).toBe(101)
      expect(runs.get('quiet/only')).toBe(2)
      expect([...runs].filter(([, count]) => count > 1)).toHaveLength(2)
    }).pipe(Effect.provideService(KubeClient, NO_CLIENT), Effect.scoped),
  )
})
