// What the API server says of the credentials, and who therefore owns what the operator makes for itself.
import { Effect, Fiber, Layer, Logger } from 'effect'
import { TestClock } from 'effect/testing'
import { expect, it } from 'vitest'
import { KubeClient } from './client.ts'
import { type KubeError, KubeNotFound, KubeUnreachable } from './errors.ts'
import { ownAccount, ownersIn } from './own-account.ts'

const review = (userInfo: unknown): unknown => ({ kind: 'SelfSubjectReview', status: { userInfo } })
const ACCOUNT = { username: 'system:serviceaccount:gw-system:gw-controller', uid: 'u-1' }
const OWNERS = [{ apiVersion: 'v1', kind: 'ServiceAccount', name: 'gw-controller', uid: 'u-1' }]

it.each<[string, unknown, unknown]>([
  ['a ServiceAccount of the namespace', review(ACCOUNT), OWNERS],
  ['one of another namespace', review({ ...ACCOUNT, username: 'system:serviceaccount:other:gw-controller' }), []],
  ['a person', review({ username: 'kubernetes-admin' }), []],
  ['no uid', review({ username: ACCOUNT.username }), []],
  ['nothing', undefined, []],
])('%s', (_, answer, owners) => expect(ownersIn(answer, 'gw-system')).toEqual(owners))

/** Answers in turn; the last one for ever. */
function clientThat(...answers: readonly Effect.Effect<unknown, KubeError>[]) {
  const asked: unknown[] = []
  const never = () => Effect.die('not used')
  const client = KubeClient.of({
    create: (object, { plural }) => {
      asked.push([object.kind, plural])
      // What the answer holds is read with care.
      return (answers[Math.min(asked.length, answers.length) - 1] ?? never()) as Effect.Effect<typeof object, KubeError>
    },
    get: never,
    list: never,
    watch: never,
    apply: never,
    tryApply: never,
    replace: never,
    patch: never,
    remove: never,
    document: never,
  })
  return { asked, layer: Layer.mergeAll(Layer.succeed(KubeClient, client), TestClock.layer(), Logger.layer([])) }
}

it('retries while the API server does not answer, and stops if it cannot name the account', async () => {
  const away = Effect.fail(new KubeUnreachable({ method: 'POST', path: 'x', cause: 'away' }))
  const late = clientThat(away, away, Effect.succeed(review(ACCOUNT)))
  const body = Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(ownAccount('gw-system'))
    yield* TestClock.adjust('1 minute')
    return yield* Fiber.join(fiber)
  })
  expect(await Effect.runPromise(Effect.provide(body, late.layer))).toEqual(OWNERS)
  expect(late.asked).toEqual(Array.from({ length: 3 }, () => ['SelfSubjectReview', 'selfsubjectreviews']))
  const unknown = clientThat(Effect.fail(new KubeNotFound({ path: 'x' })))
  expect(await Effect.runPromise(Effect.provide(body, unknown.layer))).toEqual([])
  const never = clientThat(away)
  expect(await Effect.runPromise(Effect.provide(body, never.layer))).toEqual([])
  expect([unknown.asked.length, never.asked.length]).toEqual([1, 6])
})
