// Writes a delivery of whole documents: the format of proxies that read no chunks. Objects keep the files of the
// previous delivery, so that every mixture of objects gives a proxy either the old or the new configuration.
import { Effect } from 'effect'
import type { Files } from '#api/delivery/document.ts'
import { DeliveryEncoder, keepingPrevious } from '#api/delivery/encode.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { type DeliveryObjects, idOf } from './delivery-objects.ts'
import { holds } from './held-files.ts'
import { type PublishContext, settle, SETTLE_MS } from './publish-context.ts'

export class DocumentPublisher {
  readonly #encoder = new DeliveryEncoder()
  /** The last encoded delivery: proxies may still read it while the next one is written. */
  #last: { readonly services: string; readonly objects: ReadonlyMap<string, Files> } | undefined = undefined

  readonly publish = Effect.fnUntraced(
    function* (this: DocumentPublisher, context: PublishContext, gateway: Gateway, rendered: RenderedGateway) {
      const { objects, now } = context
      const encoded = this.#encode(context, gateway, rendered)
      if ('problem' in encoded) return { written: 0, problem: encoded.problem.message }
      if (encoded.objects.every((object) => holds(objects, object))) {
        const isDue = context.settleAt !== undefined && context.settleAt <= now
        return { written: isDue ? yield* settle(context, gateway, encoded.objects) : 0 }
      }
      // Endpoints have an index of their own: their change leaves the main index, and its number, alone.
      if (encoded.objects.some((object) => object.part !== 'endpoints' && !holds(objects, object))) context.generation++
      return yield* this.#write(context, gateway, rendered)
    }.bind(this),
  )

  readonly #write = Effect.fnUntraced(
    function* (this: DocumentPublisher, context: PublishContext, gateway: Gateway, rendered: RenderedGateway) {
      const { objects, now } = context
      const encoded = this.#encode(context, gateway, rendered)
      if ('problem' in encoded) return { written: 0, problem: encoded.problem.message }
      let written = 0
      for (const object of keepingPrevious(encoded.objects, this.#previousFiles(objects, encoded.index.services))) {
        const wanted = encoded.objects.find((one) => idOf(one) === idOf(object))
        // An object that has all its files is not written, whatever else it holds.
        if (wanted !== undefined && holds(objects, wanted)) continue
        yield* objects.write(gateway, object)
        written++
        if (object.files.size > (wanted?.files.size ?? 0)) context.settleAt = now + SETTLE_MS
      }
      const files = new Map(encoded.objects.map((object) => [idOf(object), object.files]))
      this.#last = { services: encoded.index.services, objects: files }
      return { written }
    }.bind(this),
  )

  #encode(
    { generation, salt }: PublishContext,
    { metadata }: Gateway,
    rendered: RenderedGateway,
  ): ReturnType<DeliveryEncoder['encode']> {
    const gateway = { name: metadata.name, uid: metadata.uid ?? '', generation: metadata.generation ?? 0 }
    return this.#encoder.encode({ gateway, ...rendered, generation, salt })
  }

  /** Endpoints of the same Services are replaced in one write; they need no previous files. */
  #previousFiles(objects: DeliveryObjects, services: string): ReadonlyMap<string, Files> {
    // Which of the files are from an earlier delivery is not known at first: all are kept for the next one.
    if (this.#last === undefined) return objects.all()
    if (this.#last.services !== services) return this.#last.objects
    return new Map([...this.#last.objects].filter(([id]) => id.startsWith('Secret/')))
  }
}
