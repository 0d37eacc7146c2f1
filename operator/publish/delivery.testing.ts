// Deliveries as the operator writes them, for tests of readers: object by object, over existing objects.
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import type { DeliveredObject } from '#api/delivery/encode.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import { MemoryObjects } from '#operator/publish/memory-objects.testing.ts'
import { planDelivery } from '#operator/publish/plan-delivery.ts'

/** Of the Gateway `web`. */
export class TestDelivery {
  readonly #encoder = new ChunkEncoder()
  readonly #held = new MemoryObjects()
  #generation = 0

  /** The objects to write, in order. */
  writes(config: RenderedConfig, secrets: RenderedSecrets): readonly DeliveredObject[] {
    // The fields of an object that a delivery reads.
    const gateway = { metadata: { name: 'web', uid: 'u', generation: 1 } } as unknown as Gateway
    const encoded = this.#encoder.encode({ config, secrets, salt: 's' })
    const plan = planDelivery({ held: this.#held, generation: this.#generation, gateway, pods: 1, encoded })
    if (plan.problem !== undefined) throw new Error(plan.problem.message)
    this.#generation = plan.generation
    const objects = [...plan.before, ...plan.after]
    for (const object of objects) this.#held.write(object)
    return objects
  }

  /** All files, as the kubelet mounts them. */
  files(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#held.all().values()].flatMap((files) => [...files]))
  }
}
