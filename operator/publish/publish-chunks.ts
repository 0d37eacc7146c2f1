// Writes a delivery of chunks: only the changed ones, in an order in which the write of the index switches all at once.
// Reads what is in force from the objects themselves, so that a new leader continues where the former one stopped.
import { Effect } from 'effect'
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import type { DeliveredObject } from '#api/delivery/encode.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { fillOf } from './fill.ts'
import { filesInForce } from './files-in-force.ts'
import { only } from './held-files.ts'
import { DeliveryPlanner } from './plan-delivery.ts'
import { type PublishContext, settle, SETTLE_MS } from './publish-context.ts'

export class ChunkPublisher {
  readonly #encoder = new ChunkEncoder()
  readonly #planner = new DeliveryPlanner()

  readonly publish = Effect.fnUntraced(
    function* (this: ChunkPublisher, context: PublishContext, gateway: Gateway, rendered: RenderedGateway) {
      const { objects, pods, now } = context
      const encoded = this.#encoder.encode({ ...rendered, salt: context.salt })
      const plan = this.#planner.plan({ held: objects, generation: context.generation, gateway, pods, encoded })
      let written = 0
      for (const object of [...plan.before, ...plan.after]) {
        yield* objects.write(gateway, object)
        written++
      }
      context.generation = plan.generation
      if (plan.leavesFiles) context.settleAt = now + SETTLE_MS
      const isDue =
        plan.problem === undefined && written === 0 && context.settleAt !== undefined && context.settleAt <= now
      if (isDue) written += yield* settle(context, gateway, objectsInForce(context, gateway))
      const fill = fillOf(objectsInForce(context, gateway))
      return { written, problem: plan.problem?.message, leftOut: encoded.secrets.leftOut, fill }
    }.bind(this),
  )
}

/** Without what proxies no longer read: previous secrets and endpoints, and objects that hold nothing in force. */
function objectsInForce({ objects }: PublishContext, gateway: Gateway): DeliveredObject[] {
  const names = deliveryNames(gateway.metadata.name)
  const inForce = filesInForce(objects, names)
  return (['secrets', 'endpoints', 'config'] as const)
    .flatMap((part) =>
      names[part].map((name): DeliveredObject => {
        const kind = part === 'secrets' ? 'Secret' : 'ConfigMap'
        return { kind, part, name, files: only(objects.files({ kind, name }), inForce[part]) }
      }),
    )
    .filter(({ files }) => files.size > 0)
}
