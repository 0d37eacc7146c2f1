// The known ConfigMaps and Secrets of one Gateway's delivery in the API server: reads, writes and deletes them, but
// never one that belongs to another owner.
import { Data, Effect } from 'effect'
import type { Files } from '#api/delivery/document.ts'
import type { DeliveredObject } from '#api/delivery/encode.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { isOwnedBy } from '../kube/ownership.ts'
import { TRANSLATED } from '../kube/resources.ts'
import { WritesUnderWay } from '../kube/unseen.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { HeldFiles, ObjectName } from './held-files.ts'
import { acknowledgementObject, filesOfObject, toKubeObject } from './delivered-object.ts'

export class NotOwned extends Data.TaggedError('NotOwned')<ObjectName> {}

interface Known {
  readonly files: Files
  readonly version: string | undefined
}

const NONE: Files = new Map()

/** Concurrent reads. */
const LOOKS = 8

export class DeliveryObjects implements HeldFiles {
  readonly #manager: string
  /** By `kind/name`; undefined: does not exist. A missing entry means unknown. */
  readonly #known = new Map<string, Known | undefined>()
  readonly #underWay = new WritesUnderWay()
  /** One of them was changed or deleted before the response to its write arrived: it must be read again. */
  isTouched = false

  constructor(manager: string) {
    this.#manager = manager
  }

  files(object: ObjectName): Files {
    return this.#known.get(idOf(object))?.files ?? NONE
  }

  all(): ReadonlyMap<string, Files> {
    return new Map([...this.#known].flatMap(([id, one]) => (one === undefined ? [] : [[id, one.files] as const])))
  }

  /** Another client changed or deleted it: it is read again. False: it was our own write. */
  touched(object: ObjectName, version: string | undefined): boolean {
    const known = this.#known.get(idOf(object))
    this.#underWay.reported(idOf(object), version)
    if (known === undefined || known.version === version || Number(version) < Number(known.version)) return false
    this.#known.delete(idOf(object))
    return true
  }

  /** `kind/name` of existing objects. */
  present(): string[] {
    return [...this.#known].flatMap(([id, one]) => (one === undefined ? [] : [id]))
  }

  /** It is read again. */
  forget(id: string): void {
    this.#known.delete(id)
  }

  /** Reads the unknown objects. */
  readonly look = Effect.fnUntraced(
    function* (this: DeliveryObjects, gateway: Gateway, objects: readonly ObjectName[]) {
      const unknown = objects.filter((object) => !this.#known.has(idOf(object)))
      const lookAt = (object: ObjectName): Effect.Effect<void, KubeError | NotOwned, KubeClient> =>
        Effect.map(ownedObject(gateway, object), (found) => {
          const { kind } = object
          const known = found && { files: filesOfObject({ ...found, kind }), version: found.metadata.resourceVersion }
          this.#known.set(idOf(object), known)
        })
      yield* Effect.forEach(unknown, lookAt, { concurrency: LOOKS, discard: true })
    }.bind(this),
  )

  readonly write = Effect.fnUntraced(
    function* (this: DeliveryObjects, gateway: Gateway, object: DeliveredObject) {
      yield* this.look(gateway, [object])
      const id = idOf(object)
      const version = this.#known.get(id)?.version
      // Unknown until the response arrives: after a lost response the write may or may not have happened.
      this.#known.delete(id)
      const write = put(toKubeObject(object, gateway), { version, manager: this.#manager })
      const { written, isTouched } = yield* this.#underWay.follow(id, write)
      if (isTouched) this.isTouched = true
      else this.#known.set(id, { files: object.files, version: written.metadata.resourceVersion })
    }.bind(this),
  )

  /** Deletes existing objects that are not used; returns their number. */
  readonly removeAllBut = Effect.fnUntraced(
    function* (this: DeliveryObjects, gateway: Gateway, used: readonly ObjectName[]) {
      const client = yield* KubeClient
      const ids = new Set(used.map(idOf))
      let removed = 0
      for (const [id, known] of this.#known) {
        if (ids.has(id) || known === undefined) continue
        const [kind = '', name = ''] = id.split('/')
        const resource = kind === 'Secret' ? TRANSLATED.Secret : TRANSLATED.ConfigMap
        yield* client
          .remove(resource, gateway.metadata.namespace ?? '', name)
          .pipe(Effect.catchTag('KubeNotFound', () => Effect.void))
        this.#known.set(id, undefined)
        removed++
      }
      return removed
    }.bind(this),
  )

  readonly makeAcknowledgements = Effect.fnUntraced(
    function* (this: DeliveryObjects, gateway: Gateway, shard: number) {
      const client = yield* KubeClient
      const name = deliveryNames(gateway.metadata.name).acknowledgements[shard] ?? ''
      yield* ownedObject(gateway, { kind: 'ConfigMap', name })
      const object = acknowledgementObject(gateway, name)
      yield* client.apply(object, TRANSLATED.ConfigMap, this.#manager)
    }.bind(this),
  )
}

export function idOf({ kind, name }: ObjectName): string {
  return `${kind}/${name}`
}

/** All that a delivery to this Gateway may use. */
export function objectNames(gateway: string): ObjectName[] {
  const { config, endpoints, secrets } = deliveryNames(gateway)
  return [
    ...secrets.map((name) => ({ kind: 'Secret' as const, name })),
    ...[...endpoints, ...config].map((name) => ({ kind: 'ConfigMap' as const, name })),
  ]
}

interface PutOptions {
  /** The known object; undefined: it does not exist. */
  readonly version: string | undefined
  readonly manager: string
}

/**
 * ConfigMaps are replaced as a whole, because server-side apply of many large fields costs the API server ten times as
 * much, and because the version rejects late writes of a former leader. Secrets change seldom, and replacing them
 * requires a permission that the operator has no other use for.
 */
const put = Effect.fnUntraced(function* (object: KubeObject, { version, manager }: PutOptions) {
  const client = yield* KubeClient
  if (object.kind === 'Secret') return yield* client.apply(object, TRANSLATED.Secret, manager)
  if (version === undefined) return yield* client.create(object, TRANSLATED.ConfigMap, manager)
  const known = { ...object, metadata: { ...object.metadata, resourceVersion: version } }
  return yield* client.replace(known, TRANSLATED.ConfigMap, manager)
})

/** undefined: it does not exist. Fails if it belongs to another owner. */
const ownedObject = Effect.fnUntraced(function* (gateway: Gateway, { kind, name }: ObjectName) {
  const client = yield* KubeClient
  const resource = kind === 'Secret' ? TRANSLATED.Secret : TRANSLATED.ConfigMap
  const found = yield* client
    .get(resource, gateway.metadata.namespace ?? '', name)
    .pipe(Effect.catchTag('KubeNotFound', () => Effect.succeed(undefined)))
  if (found !== undefined && !isOwnedBy(found, gateway)) return yield* new NotOwned({ kind, name })
  return found
})
