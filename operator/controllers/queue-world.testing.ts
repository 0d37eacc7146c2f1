// For tests of one queue: a world without a cluster, whose cache the test fills, and a queue that only notes its keys.
import { Effect } from 'effect'
import { afterEach, beforeEach } from 'vitest'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, IDLE_OBSERVER, settingsFor } from './operator.testing.ts'
import { ObjectCache, type ObjectChange } from '../kube/cache.ts'
import { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { createTransport } from '../kube/transport.ts'
import type { KubeObject } from '../translate/kube.ts'
import { snapshotOf } from '../translate/snapshot.ts'
import type { RenderedGateway, Translation } from '../translate/translation.ts'
import { KnownGateways } from './known-gateways.ts'
import type { Keys } from './queues.ts'
import type { World } from './world.ts'

export const NO_TRANSLATION: Translation = { perGateway: new Map(), statuses: [], problems: [] }

export interface QueueWorld {
  readonly world: World
  readonly cache: ObjectCache
  readonly gateways: KnownGateways
}

export function queueWorld(translation: Translation = NO_TRANSLATION): QueueWorld {
  const cache = new ObjectCache()
  const world: World = {
    settings: settingsFor({}, 'test'),
    cache,
    observer: IDLE_OBSERVER,
    translation: () => translation,
    snapshot: () => snapshotOf([]),
    listener: undefined,
    owners: [],
  }
  return { world, cache, gateways: new KnownGateways(world) }
}

export class NotedKeys implements Keys {
  readonly #keys: string[] = []

  add(key: string): void {
    this.#keys.push(key)
  }

  /** Since the last time. */
  taken(): string[] {
    return this.#keys.splice(0)
  }
}

/** In the cache, and rendered with one port. */
export function addGateway({ cache, gateways }: QueueWorld, name: string, port = 80): Gateway {
  const gateway: Gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: 'shop', uid: `uid of ${name}`, generation: 1 },
    spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
  }
  cache.put('Gateway', gateway)
  gateways.take(
    new Map([...gateways.all().map(([one, it]) => [keyOf(one), it] as const), [keyOf(gateway), rendered(port)]]),
  )
  return gateway
}

function keyOf({ metadata: { namespace = '', name } }: Gateway): string {
  return `${namespace}/${name}`
}

export function rendered(port: number): RenderedGateway {
  const lists = { listeners: [], routes: [], tcpRoutes: [], backends: [], policies: [], services: [], workloads: [] }
  return { config: { version: 2, binds: [{ key: `${port}`, port }], ...lists }, secrets: { version: 1, secrets: [] } }
}

/** As the cache reports it. */
export function changeOf(kind: string, object: KubeObject, options: Partial<ObjectChange> = {}): ObjectChange {
  const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`
  return { kind, key, before: object, after: object, isStatusOnly: false, ...options }
}

/** Starts an API server in this process before each test of the file, with the namespace `shop`, and stops it after. */
export function kubeForEachTest(): () => FakeKube {
  let running: FakeKube | undefined
  beforeEach(async () => {
    running = await FakeKube.start()
    running.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  })
  afterEach(async () => {
    await running?.stop()
    running = undefined
  })
  return () => {
    if (running === undefined) throw new Error('the API server runs only during a test')
    return running
  }
}

/** The objects of the API server of this process, as a watch reports them. */
export function storedObjects(kube: FakeKube, resource: string): KubeObject[] {
  // Written by the operator, with whole owner references.
  return kube.store.list(resource) as (FakeObject & KubeObject)[]
}

/** Runs what a queue does against an API server of this process. */
export async function runAgainst(kube: FakeKube, work: Effect.Effect<void, KubeError, KubeClient>): Promise<void> {
  const transport = createTransport(configFor(kube.url))
  try {
    await Effect.runPromise(Effect.provide(work, KubeClient.layerOf(transport)))
  } finally {
    transport.close()
  }
}
