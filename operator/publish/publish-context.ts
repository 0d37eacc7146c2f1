// The known state of the delivery to one Gateway, in any format.
import { Effect } from 'effect'
import type { DeliveredObject } from '#api/delivery/encode.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { DeliveryObjects } from './delivery-objects.ts'

/** Longer than the kubelet takes to update files in a pod: then no proxy reads files of the previous delivery. */
export const SETTLE_MS = 120_000

export interface PublishContext {
  readonly objects: DeliveryObjects
  readonly salt: string
  /** Of the last delivery. */
  generation: number
  /** When files of the previous delivery may be deleted; undefined: no files are to be deleted. */
  settleAt: number | undefined
  /** Proxies of the Gateway. */
  pods: number
  now: number
}

/** Rewrites objects that still hold files of the previous delivery, and deletes unused objects. */
export const settle = Effect.fnUntraced(function* (
  context: PublishContext,
  gateway: Gateway,
  wanted: readonly DeliveredObject[],
) {
  let written = 0
  for (const object of wanted) {
    if (context.objects.files(object).size === object.files.size) continue
    yield* context.objects.write(gateway, object)
    written++
  }
  written += yield* context.objects.removeAllBut(gateway, wanted)
  context.settleAt = undefined
  return written
})
