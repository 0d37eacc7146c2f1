// Who may write, and when: a slow API server holds writes up and does not end a leadership, another holder does. Time
// is a test clock, the API server is a table of one Lease.
import { Clock, Effect, Fiber, Layer, Logger } from 'effect'
import { TestClock } from 'effect/testing'
import { expect, it } from 'vitest'
import { settingsFor } from '#operator/controllers/operator.testing.ts'
import { KubeClient } from '../kube/client.ts'
import { KubeConflict, type KubeError, KubeNotFound, KubeUnreachable } from '../kube/errors.ts'
import type { KubeObject } from '../translate/kube.ts'
import { LEASE_TIMES, type LeaseTimes, withLeadership } from './lease.ts'

const SETTINGS = settingsFor({}, 'me')
const OWNERS = [{ apiVersion: 'v1', kind: 'ServiceAccount', name: 'gw-controller', uid: 'u' }]

class Server {
  lease: (KubeObject & { spec: Record<string, unknown> }) | undefined = undefined
  /** By time in ms. */
  readonly written: number[] = []
  readonly log: string[] = []
  isAway = false
  takesMs = 0
  /** Of the next call, until the server sees it. */
  delayMs = 0
  calls = 0
  #version = 0

  readonly client = KubeClient.of({
    get: () => this.#call(() => this.#existing()),
    create: (object) => this.#call(() => Effect.sync(() => this.put(object))),
    replace: (object) => this.#call(() => this.#replace(object)),
    apply: (object) =>
      Effect.map(
        Effect.clockWith((clock) => clock.currentTimeMillis),
        (now) => {
          this.written.push(now)
          return object
        },
      ),
    tryApply: () => Effect.die('not used'),
    list: () => Effect.die('not used'),
    watch: () => Effect.die('not used'),
    patch: () => Effect.die('not used'),
    remove: () => Effect.die('not used'),
    document: () => Effect.die('not used'),
  })

  put(object: object): KubeObject {
    const { metadata, spec } = object as { metadata: KubeObject['metadata']; spec: Record<string, unknown> } // a Lease
    const version = { ...metadata, resourceVersion: String(++this.#version) }
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: version, spec }
    this.lease = lease
    return lease
  }

  holder(): unknown {
    return this.lease?.spec['holderIdentity']
  }

  #existing(): Effect.Effect<KubeObject, KubeError> {
    return this.lease === undefined ? Effect.fail(new KubeNotFound({ path: 'lease' })) : Effect.succeed(this.lease)
  }

  #replace(object: KubeObject): Effect.Effect<KubeObject, KubeError> {
    if (this.lease === undefined) return Effect.fail(new KubeNotFound({ path: 'lease' }))
    return object.metadata.resourceVersion === this.lease.metadata.resourceVersion
      ? Effect.sync(() => this.put(object))
      : Effect.fail(new KubeConflict({ path: 'lease', reason: 'Conflict', message: '' }))
  }

  #call(answer: () => Effect.Effect<KubeObject, KubeError>): Effect.Effect<KubeObject, KubeError> {
    this.calls += 1
    if (this.isAway) return Effect.fail(new KubeUnreachable({ method: 'GET', path: 'lease', cause: 'away' }))
    const delayMs = this.delayMs
    this.delayMs = 0
    return Effect.sleep(delayMs).pipe(
      Effect.andThen(Effect.suspend(answer)),
      Effect.flatMap((object) => Effect.as(Effect.sleep(this.takesMs), object)),
    )
  }
}

const run = (body: Effect.Effect<void>): Promise<void> =>
  Effect.runPromise(body.pipe(Effect.provide(Layer.merge(TestClock.layer(), Logger.layer([])))))

/** So that the tests need few steps. */
const QUICK: LeaseTimes = { durationSeconds: 4, renewDeadlineMs: 3000, intervalMs: 1000, lookMs: 500 }

/** Leads in the background and writes every 100 ms; the outcome when it ends by itself. */
function leading(server: Server, times: LeaseTimes = QUICK) {
  const write = Effect.gen(function* () {
    server.log.push('begins')
    const client = yield* KubeClient
    const resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', isNamespaced: true }
    const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
    for (;;) {
      yield* Effect.ignore(client.apply(object, resource, 'me'))
      yield* Effect.sleep(100)
    }
  })
  return withLeadership({ settings: SETTINGS, times, owners: () => OWNERS }, write).pipe(
    Effect.exit,
    Effect.provide(Layer.succeed(KubeClient, server.client)),
    Effect.forkChild,
  )
}

/** Writes of the last second. */
const recent = (server: Server): Effect.Effect<number> =>
  Effect.clockWith((clock) =>
    Effect.map(clock.currentTimeMillis, (now) => server.written.filter((at) => at > now - 1000).length),
  )

it('leads on with one request a second, and gives the lease back at the end', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const fiber = yield* leading(server)
      yield* TestClock.adjust('10 seconds')
      expect(yield* recent(server)).toBe(10)
      expect([server.holder(), server.calls]).toEqual(['me', 2 + 10])
      yield* Fiber.interrupt(fiber)
      expect(server.holder()).toBe('')
    }),
  ))

it('renews a lease of 4 s every 2 s, and retries soon after a failure', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const fiber = yield* leading(server, LEASE_TIMES)
      yield* TestClock.adjust('10 seconds')
      expect([server.holder(), server.calls]).toEqual(['me', 2 + 5])
      expect(server.lease).toMatchObject({ spec: { leaseDurationSeconds: 4 } })
      server.isAway = true
      yield* TestClock.adjust('2500 millis')
      expect(yield* recent(server)).toBe(10)
      server.isAway = false
      yield* TestClock.adjust('500 millis')
      expect(server.holder()).toBe('me')
      yield* TestClock.adjust('2 seconds')
      expect(yield* recent(server)).toBe(10)
      server.isAway = true
      yield* TestClock.adjust('4 seconds')
      expect(yield* recent(server)).toBe(0)
      yield* Fiber.interrupt(fiber)
    }),
  ))

it('does not write while the API server is away, and continues where it stopped', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const fiber = yield* leading(server)
      yield* TestClock.adjust('5 seconds')
      server.isAway = true
      // Until the deadline no other replica may write.
      yield* TestClock.adjust('2500 millis')
      expect(yield* recent(server)).toBe(10)
      yield* TestClock.adjust('60 seconds')
      expect(yield* recent(server)).toBe(0)
      server.isAway = false
      yield* TestClock.adjust('3 seconds')
      expect(yield* recent(server)).toBe(10)
      expect(server.log).toEqual(['begins'])
      yield* Fiber.interrupt(fiber)
    }),
  ))

it('recognises its own renewal when the response came too late', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const fiber = yield* leading(server)
      yield* TestClock.adjust('5 seconds')
      server.takesMs = 3500
      yield* TestClock.adjust('20 seconds')
      expect(yield* recent(server)).toBe(0)
      server.takesMs = 0
      yield* TestClock.adjust('6 seconds')
      expect(yield* recent(server)).toBe(10)
      expect([server.holder(), server.log]).toEqual(['me', ['begins']])
      yield* Fiber.interrupt(fiber)
    }),
  ))

it('counts the duration of a lease from when it has read it, polls twice a second, and takes it at its end', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const lease = (renewTime: number): object => ({
        metadata: { name: 'gw-gw' },
        spec: { holderIdentity: 'other', leaseDurationSeconds: 4, renewTime },
      })
      server.put(lease(0))
      // The look is under way while the other one renews.
      server.delayMs = 2500
      const fiber = yield* leading(server)
      yield* TestClock.adjust('2400 millis')
      server.put(lease(1))
      yield* TestClock.adjust('4 seconds')
      expect([server.holder(), server.calls]).toEqual(['other', 8])
      yield* TestClock.adjust('100 millis')
      expect(server.holder()).toBe('me')
      yield* Fiber.interrupt(fiber)
    }),
  ))

/** The clock of the machine is wrong by so many milliseconds. */
const withSkew =
  (skew: { ms: number }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.updateService(effect, Clock.Clock, (clock) => ({
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + skew.ms,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + skew.ms),
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(duration),
    }))

const HOUR_MS = 3_600_000

it.each([-HOUR_MS, HOUR_MS])('takes the lease of a dead leader at its end when the clock jumps by %i ms', (ms) =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      server.put({ metadata: { name: 'gw-gw' }, spec: { holderIdentity: 'other', leaseDurationSeconds: 4 } })
      const skew = { ms: 0 }
      const fiber = yield* leading(server).pipe(withSkew(skew))
      yield* TestClock.adjust('1 second')
      skew.ms = ms
      yield* TestClock.adjust('2900 millis')
      expect(server.holder()).toBe('other')
      yield* TestClock.adjust('600 millis')
      expect(server.holder()).toBe('me')
      yield* Fiber.interrupt(fiber)
    }),
  ),
)

it('does not write after its lease has ended when the clock was set back', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const skew = { ms: 0 }
      const fiber = yield* leading(server).pipe(withSkew(skew))
      yield* TestClock.adjust('5 seconds')
      server.isAway = true
      skew.ms = -HOUR_MS
      yield* TestClock.adjust('4 seconds')
      const { length } = server.written
      yield* TestClock.adjust('10 seconds')
      expect(server.written).toHaveLength(length)
      yield* Fiber.interrupt(fiber)
    }),
  ))

it('does not write after the machine has slept, which only the wall clock counts', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const skew = { ms: 0 }
      const fiber = yield* leading(server).pipe(withSkew(skew))
      yield* TestClock.adjust('5 seconds')
      server.isAway = true
      skew.ms = HOUR_MS
      yield* TestClock.adjust('100 millis')
      const { length } = server.written
      yield* TestClock.adjust('10 seconds')
      expect(server.written).toHaveLength(length)
      yield* Fiber.interrupt(fiber)
    }),
  ))

for (const [what, change] of [
  ['another replica has it', (server: Server) => server.put({ ...server.lease, spec: { holderIdentity: 'other' } })],
  ['the lease was removed', (server: Server) => (server.lease = undefined)],
] as const) {
  it(`ends when ${what}, without a write after that`, () =>
    run(
      Effect.gen(function* () {
        const server = new Server()
        const fiber = yield* leading(server)
        yield* TestClock.adjust('5 seconds')
        change(server)
        yield* TestClock.adjust('1 seconds')
        const exit = yield* Fiber.join(fiber)
        expect(String(exit)).toContain('LeadershipLost')
        const count = server.written.length
        yield* TestClock.adjust('5 seconds')
        expect(server.written).toHaveLength(count)
      }),
    ))
}

it('sets its account as the owner of a Lease that it creates, and keeps the owners of an existing one', () =>
  run(
    Effect.gen(function* () {
      const server = new Server()
      const first = yield* leading(server)
      yield* TestClock.adjust('3 seconds')
      expect(server.lease?.metadata.ownerReferences).toEqual(OWNERS)
      yield* Fiber.interrupt(first)
      const others = [{ ...OWNERS[0], name: 'other' }]
      server.put({ ...server.lease, metadata: { ...server.lease?.metadata, ownerReferences: others } })
      const second = yield* leading(server)
      yield* TestClock.adjust('3 seconds')
      expect([server.holder(), server.lease?.metadata.ownerReferences]).toEqual(['me', others])
      yield* Fiber.interrupt(second)
    }),
  ))
