// Features follow the fields of the kinds in the cluster; what cannot be read changes nothing.
import { Effect, Fiber, Layer } from 'effect'
import { TestClock } from 'effect/testing'
import { describe, expect, it } from 'vitest'
import { KubeClient } from '../kube/client.ts'
import { KubeNotFound } from '../kube/errors.ts'
import { SUPPORTED_FEATURES } from '../translate/capabilities.ts'
import { FEATURES_OF_FIELDS, followUnservedFeatures, unservedFeatures } from './served-features.ts'

const GROUP = 'apis/gateway.networking.k8s.io/v1'
const RETRY = ['HTTPRouteRetry', 'HTTPRouteRetryBackendTimeout', 'HTTPRouteRetryConnectionError']

function documentWith(kind: string, rule: object): unknown {
  const rules = { type: 'array', items: { type: 'object', properties: rule } }
  const schema = {
    'x-kubernetes-group-version-kind': [{ group: 'gateway.networking.k8s.io', kind, version: 'v1' }],
    properties: { spec: { type: 'object', properties: { rules } } },
  }
  return { components: { schemas: { 'io.k8s.networking.gateway.v1.Any': schema } } }
}

describe('unservedFeatures', () => {
  it.each<[string, unknown, string[]]>([
    ['the field is there', documentWith('HTTPRoute', { retry: { type: 'object' } }), []],
    ['the field is missing', documentWith('HTTPRoute', { matches: {} }), RETRY],
    ['only another kind has it', documentWith('GRPCRoute', { retry: {} }), RETRY],
    ['there are no schemas', {}, RETRY],
    ['there is no document', undefined, RETRY],
  ])('%s', (_what, document, expected) => {
    expect([...unservedFeatures(document)].sort()).toEqual(expected)
  })

  it('names only features that the class may claim', () => {
    expect([...FEATURES_OF_FIELDS].filter((feature) => !SUPPORTED_FEATURES.includes(feature))).toEqual([])
  })
})

describe('followUnservedFeatures', () => {
  it('reads the document when its hash changes, and continues after failures', async () => {
    const asked: string[] = []
    const reported: string[][] = []
    const documents = new Map<string, unknown>()
    const serve = (hash: string, rule: object): void => {
      const path = `/openapi/v3/${GROUP}?hash=${hash}`
      documents.set('/openapi/v3', { paths: { [GROUP]: { serverRelativeURL: path } } })
      documents.set(path, documentWith('HTTPRoute', rule))
    }
    const client = Layer.mock(KubeClient, {
      document: (path) => {
        asked.push(path)
        return documents.has(path) ? Effect.succeed(documents.get(path)) : Effect.fail(new KubeNotFound({ path }))
      },
    })
    const body = Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        followUnservedFeatures((unserved) => void reported.push([...unserved].sort())),
      )
      yield* TestClock.adjust('1 minute')
      serve('1', {})
      yield* TestClock.adjust('3 minutes')
      serve('2', { retry: {} })
      yield* TestClock.adjust('3 minutes')
      yield* Fiber.interrupt(fiber)
    })
    await Effect.runPromise(body.pipe(Effect.provide(Layer.merge(client, TestClock.layer()))))
    expect(reported).toEqual([RETRY, []])
    expect(asked.filter((path) => path.includes('hash'))).toHaveLength(2)
  })
})
