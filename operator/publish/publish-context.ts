// What is known of the delivery to one Gateway, whatever format it has.
import { Effect } from 'effect'
import type { DeliveredObject } from '#api/delivery/encode.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { DeliveryObjects } from './delivery-objects.ts'

/** Longer than the kubelet takes to bring a change into a pod: then no proxy reads files of the delivery before. */
export const SETTLE_MS = 120_000

export interface PublishContext {
  readonly objects: DeliveryObjects
  readonly salt: string
  /** Of the last delivery. */
  generation: number
  /** When files of the delivery before may go; undefined: there are none. */
  settleAt: number | undefined
  now: number
}

/** Rewrites what still holds files of the delivery before, and removes objects that are no longer used. */
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
