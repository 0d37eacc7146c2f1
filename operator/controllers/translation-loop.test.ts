// A translation that fails by a defect is logged and counted, and the next change is translated again.
import { Effect, Logger } from 'effect'
import { expect, it, vi } from 'vitest'
import { settingsFor } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'
import { ObjectCache } from '../kube/cache.ts'
import type { KubeObject } from '../translate/kube.ts'
import { csrf } from '../translate/policy/csrf.ts'
import { translateSettings } from './operator.ts'
import { makeTranslationLoop } from './translation-loop.ts'

class BrokenCache extends ObjectCache {
  isBroken = true

  override views(kind: string): readonly KubeObject[] {
    if (this.isBroken) throw new Error('a defect')
    return super.views(kind)
  }
}

function gatewayClass(name: string): KubeObject & { spec: object } {
  const metadata = { name, uid: name, resourceVersion: '1', generation: 1 }
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata,
    spec: { controllerName: 'gw.dev/controller' },
  }
}

it('continues after a defect, which is counted and logged', async () => {
  const cache = new BrokenCache()
  const log: string[] = []
  let failures = 0
  const test = Effect.gen(function* () {
    const loop = yield* makeTranslationLoop({
      settings: translateSettings(settingsFor({}, 'test')),
      cache,
      isReady: () => true,
      fetch: () => Effect.void,
      onTranslation: () => undefined,
      onFailure: () => void (failures += 1),
      onDefect: () => undefined,
    })
    yield* Effect.promise(() => until('the failure', () => failures === 1))
    expect(loop.current().statuses).toEqual([])
    cache.isBroken = false
    cache.put('GatewayClass', gatewayClass('mine'))
    yield* Effect.promise(() => until('the result', () => loop.current().statuses.length > 0))
  })
  const logger = Logger.make(({ message }) => log.push(JSON.stringify(message)))
  await Effect.runPromise(Effect.scoped(test).pipe(Effect.provide(Logger.layer([logger]))))
  expect(failures).toBe(1)
  expect(log.some((line) => line.includes('internal error in the translation'))).toBe(true)
})

it('logs a defect that hit one object with its number and stack, and counts it by kind', async () => {
  const translate = vi.spyOn(csrf, 'translate').mockImplementation(() => {
    throw new TypeError('a defect')
  })
  const cache = new ObjectCache()
  const spec = { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }] }
  const policy: KubeObject & { spec: object } = {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name: 'one', namespace: 'shop', uid: 'one', resourceVersion: '1', generation: 1 },
    spec: { ...spec, traffic: { csrf: {} } },
  }
  cache.put('GwPolicy', policy)
  const log: string[] = []
  const kinds: string[] = []
  const test = Effect.gen(function* () {
    yield* makeTranslationLoop({
      settings: translateSettings(settingsFor({}, 'test')),
      cache,
      isReady: () => true,
      fetch: () => Effect.void,
      onTranslation: () => undefined,
      onFailure: () => undefined,
      onDefect: (kind) => void kinds.push(kind),
    })
    yield* Effect.promise(() => until('the defect', () => log.length > 0))
  })
  const logger = Logger.make(({ message, logLevel }) => log.push(`${logLevel} ${JSON.stringify(message)}`))
  await Effect.runPromise(Effect.scoped(test).pipe(Effect.provide(Logger.layer([logger]))))
  translate.mockRestore()
  expect(kinds).toEqual(['GwPolicy'])
  expect(log[0]).toMatch(
    /^Error .*internal error.*"[0-9a-f]{8}","GwPolicy shop\/one","spec\.traffic\.csrf","TypeError: a defect\\n +at /,
  )
})
