// What is known of the delivery to one Gateway, whatever format it has.
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
