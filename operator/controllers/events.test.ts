import { it } from '@effect/vitest'
import { Effect } from 'effect'
import { describe, expect } from 'vitest'
import type { KubeClient as Client } from '../kube/client.ts'
import { KubeClient } from '../kube/client.ts'
import { KubeConflict, type KubeError, KubeRefused, KubeUnreachable } from '../kube/errors.ts'
import type { KubeObject } from '../translate/kube.ts'
import { Events, type Occurrence } from './events.ts'

const object = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  namespace: 'shop',
  name: 'cart',
  uid: 'u',
}
const KEY = 'HTTPRoute shop/cart'

function wrong(change: Partial<Occurrence> = {}): Occurrence {
  return { object, reason: 'BackendNotFound', message: 'spec: no', afterMs: 0, ...change }
}

interface Written {
  readonly kind: 'create' | 'patch'
  readonly name: string
  readonly body: unknown
}

/** Creates fail with what `failures` holds, one after the other; an Event that is there is a conflict. */
function server(failures: KubeError[] = []): { readonly written: Written[]; readonly run: Run } {
  const written: Written[] = []
  const stored = new Map<string, KubeObject>()
  const unused = (): never => {
    throw new Error('not asked for')
  }
  const client: Client['Service'] = {
    get: unused,
    list: unused,
    watch: unused,
    apply: unused,
    tryApply: unused,
    replace: unused,
    remove: unused,
    document: unused,
    create: (event) => {
      const failure = failures.shift()
      if (failure !== undefined) return Effect.fail(failure)
      const { name } = event.metadata
      if (stored.has(name)) return Effect.fail(new KubeConflict({ path: name, reason: 'AlreadyExists', message: '' }))
      stored.set(name, event)
      written.push({ kind: 'create', name, body: event })
      return Effect.succeed(event)
    },
    patch: ({ name }, body) => {
      written.push({ kind: 'patch', name, body })
      // Of an Event that was created.
      const patched = { ...stored.get(name), ...(body as object) } as KubeObject
      stored.set(name, patched)
      return Effect.succeed(patched)
    },
  }
  return { written, run: (effect) => Effect.provideService(effect, KubeClient, client) }
}

type Run = <A, E>(effect: Effect.Effect<A, E, KubeClient>) => Effect.Effect<A, E>

describe('Events', () => {
  it.effect('contain no control characters', () =>
    Effect.gen(function* () {
      const { written, run } = server()
      const events = new Events('gw.dev/controller')
      events.update([wrong({ message: 'spec["\u001b[2J\u202e"]: no\nsecond line' })], 0)
      yield* run(events.write(KEY))
      expect(written[0]?.body).toMatchObject({ message: 'spec["\\x1b[2J\\u202e"]: no\nsecond line' })
    }),
  )

  it.effect('are written once while a problem lasts, and again when it came back', () =>
    Effect.gen(function* () {
      const { written, run } = server()
      const events = new Events('gw.dev/controller')
      expect(events.update([wrong(), wrong()], 0)).toEqual([KEY])
      yield* run(events.write(KEY))
      expect(events.update([wrong()], 10)).toEqual([])
      yield* run(events.write(KEY))
      expect(written).toHaveLength(1)
      expect(written[0]?.body).toMatchObject({
        metadata: { name: expect.stringMatching(/^cart\.[0-9a-f]{16}$/), namespace: 'shop' },
        type: 'Warning',
        reason: 'BackendNotFound',
        message: 'spec: no',
        involvedObject: { apiVersion: object.apiVersion, kind: 'HTTPRoute', namespace: 'shop', name: 'cart', uid: 'u' },
        source: { component: 'gw.dev/controller' },
        count: 1,
      })
      expect(events.update([], 20)).toEqual([])
      expect(events.update([wrong()], 30)).toEqual([KEY])
      yield* run(events.write(KEY))
      expect(written[1]).toMatchObject({ kind: 'patch', name: written[0]?.name, body: { count: 2 } })
      expect(written).toHaveLength(2)
    }),
  )

  it.effect('are written again, as the same Event, when their turn changes', () =>
    Effect.gen(function* () {
      const { written, run } = server()
      const events = new Events('c')
      for (const turn of [3, 3, 2]) {
        events.update([wrong({ turn })], 0)
        yield* run(events.write(KEY))
      }
      expect(written.map(({ kind }) => kind)).toEqual(['create', 'patch'])
      expect(written[1]).toMatchObject({ name: written[0]?.name, body: { count: 2 } })
    }),
  )

  it.effect('are found by the next leader, and not counted again while the problem lasts', () =>
    Effect.gen(function* () {
      const { written, run } = server()
      const [first, next] = [new Events('c'), new Events('c')]
      for (const [events, standing] of [
        [first, [wrong()]],
        [first, []],
        [first, [wrong()]],
        [next, [wrong()]],
        [next, []],
        [next, [wrong()]],
      ] as const) {
        events.update(standing, 0)
        yield* run(events.write(KEY))
      }
      const counts = written.map(({ kind, body }) => [kind, (body as { count?: number }).count])
      expect(counts).toEqual([
        ['create', 1],
        ['patch', 2],
        ['patch', undefined],
        ['patch', 3],
      ])
      expect(written[2]?.body).toEqual({})
    }),
  )

  it('wait until a problem has lasted for a while', () => {
    const events = new Events('c')
    const passing = wrong({ afterMs: 2000 })
    expect(events.update([passing], 1000)).toEqual([])
    expect(events.isWaiting).toBe(true)
    expect(events.update([passing], 2999)).toEqual([])
    expect(events.update([passing], 3000)).toEqual([KEY])
    expect(events.isWaiting).toBe(false)
    events.update([], 3001)
    expect(events.update([passing], 4000)).toEqual([])
  })

  it('keep places for the problems of every namespace', () => {
    const events = new Events('c')
    const noisy = Array.from({ length: 20_000 }, (_, index) => wrong({ message: `spec: no ${index}` }))
    const quiet = wrong({ object: { ...object, namespace: 'quiet', uid: 'q' } })
    expect(events.update([...noisy, quiet], 0)).toEqual([KEY, 'HTTPRoute quiet/cart'])
  })

  it.each([
    ['no answer', new KubeUnreachable({ method: 'POST', path: '/', cause: 'reset' }), 1],
    ['an error of the server', refused(503), 1],
    ['too many requests', refused(429), 1],
    ['not allowed', refused(403), 0],
  ] as const)('come again after a failure that may pass: %s', async (_, failure, count) => {
    const { written, run } = server([failure])
    const events = new Events('c')
    events.update([wrong()], 0)
    const first = await Effect.runPromiseExit(run(events.write(KEY)))
    expect(first._tag).toBe(count === 1 ? 'Failure' : 'Success')
    await Effect.runPromise(run(events.write(KEY)))
    expect(written).toHaveLength(count)
  })

  it.effect('of one object are cut when there are too many, those of others are not', () =>
    Effect.gen(function* () {
      const { written, run } = server()
      const events = new Events('c')
      const other = { ...object, name: 'other', uid: 'o' }
      const many = Array.from({ length: 40 }, (_, index) => wrong({ message: `spec: ${index}` }))
      expect(events.update([...many, wrong({ object: other })], 0)).toEqual([KEY, 'HTTPRoute shop/other'])
      yield* run(events.write(KEY))
      expect(written).toHaveLength(10)
      yield* run(events.write('HTTPRoute shop/other'))
      expect(written).toHaveLength(11)
      // What was cut is not tried again and again.
      expect(events.update(many, 1000)).toEqual([])
    }),
  )

  it.effect('have names and messages that the API accepts', () =>
    Effect.gen(function* () {
      const { written, run } = server()
      const events = new Events('c')
      const long = { ...object, kind: 'GatewayClass', namespace: '', name: `${'a'.repeat(199)}.${'b'.repeat(53)}` }
      events.update([wrong({ object: long, message: 'x'.repeat(5000) })], 0)
      yield* run(events.write(`GatewayClass /${long.name}`))
      const [event] = written
      expect(event?.name).toMatch(/^a{199}\.[0-9a-f]{16}$/)
      expect(event?.body).toMatchObject({ metadata: { namespace: 'default' }, message: 'x'.repeat(1024) })
    }),
  )
})

function refused(status: number): KubeRefused {
  return new KubeRefused({ method: 'POST', path: '/', status, reason: '', message: '', retryAfterMs: undefined })
}
