import { expect, it } from '@effect/vitest'
import { Effect } from 'effect'
import { KubeClient } from './client.ts'
import { LEASES, type Resource, TRANSLATED } from './resources.ts'
import type { KubeRequest, Transport } from './transport.ts'

/** What is asked for when an object of this kind is replaced. */
const replacing = Effect.fnUntraced(function* (resource: Resource) {
  const asked: KubeRequest[] = []
  const transport: Transport = {
    send: (request) => {
      asked.push(request)
      return Promise.resolve({ status: 200, body: { metadata: { resourceVersion: '7' } }, retryAfterMs: undefined })
    },
    stream: () => Promise.reject(new Error('nothing is watched')),
    close: () => {},
  }
  const object = { apiVersion: 'v1', kind: resource.kind, metadata: { name: 'a', namespace: 'b' } }
  const written = yield* Effect.flatMap(KubeClient, (client) => client.replace(object, resource, 'gw')).pipe(
    Effect.provide(KubeClient.layerOf(transport)),
  )
  return {
    asked: asked.map(({ method, accept }) => `${method} ${accept ?? 'all'}`),
    version: written.metadata.resourceVersion,
  }
})

it.effect('the response to a replaced ConfigMap contains only its metadata: a delivery is not sent back', () =>
  Effect.gen(function* () {
    const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
    expect(yield* replacing(TRANSLATED.ConfigMap)).toEqual({ asked: [`PUT ${metadata}`], version: '7' })
  }),
)

it.effect('the response for other kinds contains the object', () =>
  Effect.gen(function* () {
    expect(yield* replacing(LEASES)).toEqual({ asked: ['PUT all'], version: '7' })
  }),
)
