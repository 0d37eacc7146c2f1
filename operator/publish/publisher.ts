// Writes the rendered configuration of a Gateway into its ConfigMaps and Secrets: only changes, in an order that
// switches the configuration all at once, and never into objects of another owner.
import { randomBytes } from 'node:crypto'
import { Effect } from 'effect'
import { shardCount, announcedProxies } from '#api/delivery/acknowledging.ts'
import type { Files } from '#api/delivery/document.ts'
import { DELIVERY_FORMAT, type DeliveryFormat, INDEX_FILE, readDeliveryIndex } from '#api/delivery/index-file.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import { saltOf } from '#api/delivery/secret-pieces.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { KubeClient } from '../kube/client.ts'
import { elapsedMs } from '../kube/elapsed.ts'
import type { KubeError } from '../kube/errors.ts'
import { notOwned } from '../kube/ownership.ts'
import { type MissingObject, missingTwice } from '../kube/unseen.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { DeliveryObjects, idOf, objectNames } from './delivery-objects.ts'
import { objectNamesInForce } from './files-in-force.ts'
import type { Fill } from './fill.ts'
import { ChunkPublisher } from './publish-chunks.ts'
import { type PublishContext, SETTLE_MS } from './publish-context.ts'
import { DocumentPublisher } from './publish-documents.ts'
import type { ObjectName } from './held-files.ts'

/** The known state of the delivery of one Gateway. */
interface Delivery {
  readonly uid: string
  readonly context: PublishContext
  /** Of the format that is written now. */
  writer: { readonly format: DeliveryFormat; readonly publisher: ChunkPublisher | DocumentPublisher }
  /** ConfigMaps of acknowledgements that exist. */
  acknowledgements: number
}

export interface PublishOutcome {
  /** Objects. */
  readonly written: number
  /** What was not written, and a person must act. */
  readonly problem?: string | undefined
  /** `namespace/name` of the Secrets for which the objects have no room. */
  readonly leftOut?: readonly string[]
  /** Unknown for the format of proxies that read no chunks. */
  readonly fill?: Fill
}

export interface PublishInput {
  readonly gateway: Gateway
  readonly rendered: RenderedGateway
  /** The format that every proxy of the Gateway reads. */
  readonly format: DeliveryFormat
  /** Proxies of the Gateway. */
  readonly pods: number
}

export interface PublisherOptions {
  readonly manager: string
  /** Whether a watch has reported the object, as far as it is known. */
  readonly isSeen: (object: ObjectName & { readonly namespace: string }) => boolean
}

export class Publisher {
  readonly #options: PublisherOptions
  readonly #deliveries = new Map<string, Delivery>()
  /** By Gateway, `kind/name` of an object of another owner with the same name. */
  readonly #refused = new Map<string, string>()
  readonly #unseen = missingTwice(() => this.#missing())

  constructor(options: PublisherOptions) {
    this.#options = options
  }

  /** After a change of leadership all state is unknown. */
  forget(key: string): void {
    this.#deliveries.delete(key)
    this.#refused.delete(key)
  }

  /** Gateways that wait until the object of another owner is deleted. */
  refused(): Iterable<string> {
    return this.#refused.keys()
  }

  /** As last written; undefined: nothing was. */
  formatOf(key: string): DeliveryFormat | undefined {
    return this.#deliveries.get(key)?.writer.format
  }

  /** Whether the proxies of a Gateway must learn that there are many more, or many fewer. */
  isOtherSize(key: string, pods: number): boolean {
    const known = this.#deliveries.get(key)?.context.pods
    return known !== undefined && announcedProxies(pods, undefined) !== announcedProxies(known, undefined)
  }

  /** Another client changed or deleted this object: it is read again. */
  touched({ key, kind, name, version }: Touched): boolean {
    if (this.#refused.get(key) === idOf({ kind, name })) return true
    return this.#deliveries.get(key)?.context.objects.touched({ kind, name }, version) ?? false
  }

  /** Gateways whose files of the previous delivery may be deleted now. */
  due(now: number): string[] {
    const isDue = ({ context: { settleAt } }: Delivery): boolean => settleAt !== undefined && settleAt <= now
    return [...this.#deliveries].filter(([, delivery]) => isDue(delivery)).map(([key]) => key)
  }

  /** Gateways with an object that must be read again, although no watch reported a change. */
  missing(): string[] {
    const touched = [...this.#deliveries].filter(([, { context }]) => context.objects.isTouched).map(([key]) => key)
    return [...touched, ...this.#unseen()]
  }

  *#missing(): Iterable<MissingObject> {
    for (const [key, { context }] of this.#deliveries) {
      const namespace = key.slice(0, key.indexOf('/'))
      const { objects } = context
      for (const id of objects.present()) {
        const [kind, name = ''] = id.split('/')
        if (this.#options.isSeen({ kind: kind === 'Secret' ? kind : 'ConfigMap', namespace, name })) continue
        yield { key, id, forget: () => objects.forget(id) }
      }
    }
  }

  publish(key: string, input: PublishInput): Effect.Effect<PublishOutcome, KubeError, KubeClient> {
    this.#refused.delete(key)
    return this.#publish(key, input).pipe(
      Effect.catchTag('NotOwned', ({ kind, name }) => {
        this.#refused.set(key, idOf({ kind, name }))
        return Effect.succeed({ written: 0, problem: notOwned({ kind, name }) })
      }),
    )
  }

  readonly #publish = Effect.fn('operator.publish')(
    function* (this: Publisher, key: string, { gateway, rendered, format, pods }: PublishInput) {
      const delivery = yield* this.#deliveryOf(key, gateway)
      const { context } = delivery
      // Objects that another client has written are read again.
      context.objects.isTouched = false
      yield* this.#look(context.objects, gateway)
      const wanted = shardCount(announcedProxies(pods, undefined))
      for (; delivery.acknowledgements < wanted; delivery.acknowledgements++) {
        yield* context.objects.makeAcknowledgements(gateway, delivery.acknowledgements)
      }
      context.pods = pods
      context.now = yield* elapsedMs
      if (delivery.writer.format !== format) delivery.writer = writerOf(format)
      return yield* delivery.writer.publisher.publish(context, gateway, rendered)
    }.bind(this),
  )

  /**
   * Reads the objects that exist: those that a watch has reported, and those that the index in force names, because a
   * watch may be late. Any other object is read before it is written.
   */
  readonly #look = Effect.fnUntraced(
    function* (this: Publisher, objects: DeliveryObjects, gateway: Gateway) {
      const { name, namespace = '' } = gateway.metadata
      const names = deliveryNames(name)
      const firsts = new Set([names.config[0], names.endpoints[0], names.secrets[0]])
      const { isSeen } = this.#options
      const isRead = (object: ObjectName): boolean => firsts.has(object.name) || isSeen({ ...object, namespace })
      yield* objects.look(gateway, objectNames(name).filter(isRead))
      yield* objects.look(gateway, objectNamesInForce(objects, names))
    }.bind(this),
  )

  /** The state of a former leader: its files, its number and its salt. */
  readonly #deliveryOf = Effect.fnUntraced(
    function* (this: Publisher, key: string, gateway: Gateway) {
      const uid = gateway.metadata.uid ?? ''
      const known = this.#deliveries.get(key)
      if (known?.uid === uid) return known
      const objects = new DeliveryObjects(this.#options.manager)
      yield* this.#look(objects, gateway)
      const files: Files = new Map([...objects.all().values()].flatMap((held) => [...held]))
      const index = readDeliveryIndex(files.get(INDEX_FILE) ?? new Uint8Array())
      const now = yield* elapsedMs
      const context: PublishContext = {
        objects,
        salt: saltIn(files) ?? randomBytes(SALT_BYTES).toString('hex'),
        generation: 'index' in index ? index.index.generation : 0,
        settleAt: files.size > 0 ? now + SETTLE_MS : undefined,
        pods: 0,
        now,
      }
      const delivery: Delivery = { uid, context, writer: writerOf(DELIVERY_FORMAT), acknowledgements: 0 }
      this.#deliveries.set(key, delivery)
      return delivery
    }.bind(this),
  )
}

function writerOf(format: DeliveryFormat): Delivery['writer'] {
  return { format, publisher: format === 1 ? new DocumentPublisher() : new ChunkPublisher() }
}

export interface Touched {
  /** Of the Gateway. */
  readonly key: string
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  readonly version: string | undefined
}

const SALT_BYTES = 16

/** A file of the secrets has it at its start. */
function saltIn(files: Files): string | undefined {
  for (const [name, bytes] of files) {
    const salt = name.startsWith('secrets-') ? saltOf(name, bytes) : undefined
    if (salt !== undefined) return salt
  }
  return undefined
}
