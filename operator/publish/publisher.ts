// Brings the rendered configuration of a Gateway into its ConfigMaps and Secrets: only what changed, in the order that
// makes the switch one moment, never over objects of somebody else.
import { randomBytes } from 'node:crypto'
import { Clock, Data, Effect } from 'effect'
import type { Files } from '#api/delivery/document.ts'
import { type DeliveredObject, DeliveryEncoder, keepingPrevious } from '#api/delivery/encode.ts'
import { INDEX_FILE, readDeliveryIndex } from '#api/delivery/index-file.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { isOwnedBy, notOwned } from '../kube/ownership.ts'
import { TRANSLATED } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { acknowledgementObject, filesOfObject, toKubeObject } from './delivered-object.ts'

/** Longer than the kubelet takes to bring a change into a pod: then no proxy reads files of the delivery before. */
export const SETTLE_MS = 120_000

interface Known {
  readonly files: Files
  readonly version: string | undefined
}

/** What is known of the delivery of one Gateway. */
interface Delivery {
  readonly uid: string
  readonly encoder: DeliveryEncoder
  /** By `kind/name`; undefined: not there. */
  readonly objects: Map<string, Known | undefined>
  /** As last encoded: what proxies may still read while the next one is written. */
  last: { readonly services: string; readonly objects: ReadonlyMap<string, Files> }
  generation: number
  salt: string
  hasAcknowledgements: boolean
  /** When files of the delivery before may go; undefined: there are none. */
  settleAt: number | undefined
}

export type PublishOutcome =
  | { readonly written: number }
  /** Nothing was written, and a person has to do something. */
  | { readonly problem: string }

export class Publisher {
  readonly #manager: string
  readonly #deliveries = new Map<string, Delivery>()
  /** By Gateway, `kind/name` of the object of somebody else that is in the way. */
  readonly #refused = new Map<string, string>()

  constructor(manager: string) {
    this.#manager = manager
  }

  /** After a change of leadership nothing is known any more. */
  forget(key: string): void {
    this.#deliveries.delete(key)
    this.#refused.delete(key)
  }

  /** Gateways that wait for the object of somebody else to go. */
  refused(): Iterable<string> {
    return this.#refused.keys()
  }

  /** Somebody else changed or deleted this object: it is looked at again. */
  touched({ key, kind, name, version }: Touched): boolean {
    const delivery = this.#deliveries.get(key)
    const id = `${kind}/${name}`
    if (this.#refused.get(key) === id) return true
    const known = delivery?.objects.get(id)
    if (delivery === undefined || known === undefined) return false
    if (known.version === version || Number(version) < Number(known.version)) return false
    delivery.objects.delete(id)
    return true
  }

  /** Gateways whose files of the delivery before may go now. */
  due(now: number): string[] {
    const isDue = ({ settleAt }: Delivery): boolean => settleAt !== undefined && settleAt <= now
    return [...this.#deliveries].filter(([, delivery]) => isDue(delivery)).map(([key]) => key)
  }

  publish(
    key: string,
    gateway: Gateway,
    rendered: RenderedGateway,
  ): Effect.Effect<PublishOutcome, KubeError, KubeClient> {
    this.#refused.delete(key)
    return this.#publish(key, gateway, rendered).pipe(
      Effect.catchTag('NotOwned', ({ kind, name }) => {
        this.#refused.set(key, `${kind}/${name}`)
        return Effect.succeed({ problem: notOwned({ kind, name }) })
      }),
    )
  }

  readonly #publish = Effect.fn('operator.publish')(
    function* (this: Publisher, key: string, gateway: Gateway, rendered: RenderedGateway) {
      const delivery = yield* this.#deliveryOf(key, gateway)
      const encoded = encodedDelivery(delivery, gateway, rendered)
      if ('problem' in encoded) return { problem: encoded.problem.message }
      if (!delivery.hasAcknowledgements) yield* this.#makeAcknowledgements(delivery, gateway)
      const now = yield* Clock.currentTimeMillis
      if (encoded.objects.every((object) => isThere(delivery, object))) {
        const isDue = delivery.settleAt !== undefined && delivery.settleAt <= now
        return { written: isDue ? yield* this.#settle(delivery, gateway, encoded.objects) : 0 }
      }
      // Endpoints have an index of their own: their change leaves the main index, and its number, alone.
      if (encoded.objects.some((object) => object.part !== 'endpoints' && !isThere(delivery, object)))
        delivery.generation++
      return yield* this.#write(delivery, gateway, rendered, now)
    }.bind(this),
  )

  readonly #write = Effect.fnUntraced(
    function* (this: Publisher, delivery: Delivery, gateway: Gateway, rendered: RenderedGateway, now: number) {
      const encoded = encodedDelivery(delivery, gateway, rendered)
      if ('problem' in encoded) return { problem: encoded.problem.message }
      let written = 0
      for (const object of keepingPrevious(encoded.objects, previousFiles(delivery, encoded.index.services))) {
        const wanted = encoded.objects.find(({ kind, name }) => kind === object.kind && name === object.name)
        // An object whose own files are all there stays as it is, whatever else it holds.
        if (wanted !== undefined && isThere(delivery, wanted)) continue
        yield* this.#writeObject(delivery, gateway, object)
        written++
        if (object.files.size > (wanted?.files.size ?? 0)) delivery.settleAt = now + SETTLE_MS
      }
      const objects = new Map(encoded.objects.map((object) => [idOf(object), object.files]))
      delivery.last = { services: encoded.index.services, objects }
      return { written }
    }.bind(this),
  )

  /** Rewrites what still holds files of the delivery before, and removes shards that are no longer used. */
  readonly #settle = Effect.fnUntraced(
    function* (this: Publisher, delivery: Delivery, gateway: Gateway, wanted: readonly DeliveredObject[]) {
      const client = yield* KubeClient
      let written = 0
      for (const object of wanted) {
        const known = delivery.objects.get(idOf(object))
        if (known !== undefined && known.files.size === object.files.size) continue
        yield* this.#writeObject(delivery, gateway, object)
        written++
      }
      const used = new Set(wanted.map(idOf))
      for (const [id, known] of delivery.objects) {
        if (used.has(id) || known === undefined) continue
        const [kind = '', name = ''] = id.split('/')
        const resource = kind === 'Secret' ? TRANSLATED.Secret : TRANSLATED.ConfigMap
        yield* client
          .remove(resource, gateway.metadata.namespace ?? '', name)
          .pipe(Effect.catchTag('KubeNotFound', () => Effect.void))
        delivery.objects.set(id, undefined)
        written++
      }
      delivery.settleAt = undefined
      return written
    }.bind(this),
  )

  readonly #writeObject = Effect.fnUntraced(
    function* (this: Publisher, delivery: Delivery, gateway: Gateway, object: DeliveredObject) {
      const id = idOf(object)
      if (!delivery.objects.has(id)) yield* look(delivery, gateway, object)
      const version = delivery.objects.get(id)?.version
      // Unknown until the answer is there: an answer that is lost may mean either.
      delivery.objects.delete(id)
      const written = yield* put(toKubeObject(object, gateway), { version, manager: this.#manager })
      delivery.objects.set(id, { files: object.files, version: written.metadata.resourceVersion })
    }.bind(this),
  )

  /** What an earlier leader left: its files, its number and its salt. */
  readonly #deliveryOf = Effect.fnUntraced(
    function* (this: Publisher, key: string, gateway: Gateway) {
      const uid = gateway.metadata.uid ?? ''
      const known = this.#deliveries.get(key)
      if (known?.uid === uid) return known
      const delivery: Delivery = {
        uid,
        encoder: new DeliveryEncoder(),
        objects: new Map(),
        last: { services: '', objects: new Map() },
        generation: 0,
        salt: '',
        hasAcknowledgements: false,
        settleAt: undefined,
      }
      const names = deliveryNames(gateway.metadata.name)
      for (const object of objectNames(names)) yield* look(delivery, gateway, object)
      const files = [...delivery.objects.values()].flatMap((one) => [...(one?.files ?? [])])
      const index = readDeliveryIndex(new Map(files).get(INDEX_FILE) ?? new Uint8Array())
      delivery.generation = 'index' in index ? index.index.generation : 0
      delivery.salt = saltOf(new Map(files)) ?? randomBytes(SALT_BYTES).toString('hex')
      // Which of the files are from an earlier delivery is not known: all are kept for the next one.
      const found = [...delivery.objects].flatMap(([id, one]) => (one === undefined ? [] : [[id, one.files] as const]))
      delivery.last = { services: '', objects: new Map(found) }
      delivery.settleAt = files.length > 0 ? (yield* Clock.currentTimeMillis) + SETTLE_MS : undefined
      this.#deliveries.set(key, delivery)
      return delivery
    }.bind(this),
  )

  readonly #makeAcknowledgements = Effect.fnUntraced(
    function* (this: Publisher, delivery: Delivery, gateway: Gateway) {
      const client = yield* KubeClient
      const name = deliveryNames(gateway.metadata.name).acknowledgements
      yield* ownedObject(gateway, { kind: 'ConfigMap', name })
      const object = acknowledgementObject(gateway, name)
      yield* client.apply(object, TRANSLATED.ConfigMap, this.#manager)
      delivery.hasAcknowledgements = true
    }.bind(this),
  )
}

/** As it is with the present number of the delivery. */
function encodedDelivery(
  { encoder, uid, generation, salt }: Delivery,
  { metadata }: Gateway,
  rendered: RenderedGateway,
): ReturnType<DeliveryEncoder['encode']> {
  const gateway = { name: metadata.name, uid, generation: metadata.generation ?? 0 }
  return encoder.encode({ gateway, ...rendered, generation, salt })
}

export interface Touched {
  /** Of the Gateway. */
  readonly key: string
  readonly kind: string
  readonly name: string
  readonly version: string | undefined
}

/** Remembers what is there under the name of an object. */
const look = Effect.fnUntraced(function* (delivery: Delivery, gateway: Gateway, object: ObjectName) {
  const { kind, name } = object
  const found = yield* ownedObject(gateway, object)
  const known = found && { files: filesOfObject({ ...found, kind }), version: found.metadata.resourceVersion }
  delivery.objects.set(`${kind}/${name}`, known)
})

interface PutOptions {
  /** As known; undefined: there is none. */
  readonly version: string | undefined
  readonly manager: string
}

/**
 * ConfigMaps are replaced as a whole, because server-side apply of many large fields costs the API server ten times as
 * much, and the version refuses what a leader of before still wants to write. Secrets change seldom, and replacing them
 * takes a right that the operator has no other use for.
 */
const put = Effect.fnUntraced(function* (object: KubeObject, { version, manager }: PutOptions) {
  const client = yield* KubeClient
  if (object.kind === 'Secret') return yield* client.apply(object, TRANSLATED.Secret, manager)
  if (version === undefined) return yield* client.create(object, TRANSLATED.ConfigMap, manager)
  const known = { ...object, metadata: { ...object.metadata, resourceVersion: version } }
  return yield* client.replace(known, TRANSLATED.ConfigMap, manager)
})

/** undefined: there is none. Fails when it belongs to somebody else. */
const ownedObject = Effect.fnUntraced(function* (gateway: Gateway, { kind, name }: ObjectName) {
  const client = yield* KubeClient
  const resource = kind === 'Secret' ? TRANSLATED.Secret : TRANSLATED.ConfigMap
  const found = yield* client
    .get(resource, gateway.metadata.namespace ?? '', name)
    .pipe(Effect.catchTag('KubeNotFound', () => Effect.succeed(undefined)))
  if (found !== undefined && !isOwnedBy(found, gateway)) return yield* new NotOwned({ kind, name })
  return found
})

class NotOwned extends Data.TaggedError('NotOwned')<ObjectName> {}

interface ObjectName {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
}

const SALT_BYTES = 16

function objectNames({ config, endpoints, secrets }: ReturnType<typeof deliveryNames>): ObjectName[] {
  return [
    ...secrets.map((name) => ({ kind: 'Secret' as const, name })),
    ...[...endpoints, ...config].map((name) => ({ kind: 'ConfigMap' as const, name })),
  ]
}

function idOf({ kind, name }: ObjectName): string {
  return `${kind}/${name}`
}

/** Endpoints of the same Services are replaced in one write; they need nothing of before. */
function previousFiles({ last }: Delivery, services: string): ReadonlyMap<string, Files> {
  if (last.services !== services) return last.objects
  return new Map([...last.objects].filter(([id]) => id.startsWith('Secret/')))
}

/** Whether the object holds these files with this content. File names are hashes, but for the indexes. */
function isThere({ objects }: Delivery, object: DeliveredObject): boolean {
  const files = objects.get(idOf(object))?.files
  return files !== undefined && [...object.files].every(([name, bytes]) => isEqual(files.get(name), bytes))
}

function isEqual(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0
}

function saltOf(files: Files): string | undefined {
  for (const [name, bytes] of files) {
    if (!name.startsWith('secrets-') || !name.endsWith('.json')) continue
    const salt = /"salt":"([0-9a-f]{32})"/.exec(Buffer.from(bytes).toString('utf8').slice(0, 100))?.[1]
    if (salt !== undefined) return salt
  }
  return undefined
}
