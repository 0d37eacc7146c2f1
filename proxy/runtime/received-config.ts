// The last configuration that came to a worker, in force or not: the base of the next change.
import type { Steps } from '#api/incremental/steps.ts'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import { applyDelta } from '#api/ir/config-delta.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { EndpointBuffer } from '../backend/endpoint-store.ts'
import type { RateLimitBuffer } from '../policy/limits/rate-limit-store.ts'
import type { ConfigChange, SharedChange } from './messages.ts'
import { wholeChange } from './sliced-change.ts'

export interface ReceivedConfig {
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
  readonly rateLimits: RateLimitBuffer
  readonly endpoints: EndpointBuffer
}

export const NOTHING_RECEIVED: ReceivedConfig = {
  config: emptyConfig(),
  secrets: { version: 1, secrets: [] },
  rateLimits: { buffer: new SharedArrayBuffer(0), slots: LayeredMap.of() },
  endpoints: { buffer: new SharedArrayBuffer(0), slots: LayeredMap.of(), workers: 1 },
}

/** Parts that did not change are the same objects as before. */
export function* receivedSteps(before: ReceivedConfig, message: ConfigChange): Steps<ReceivedConfig> {
  const { delta, secrets, rateLimits, endpoints } = yield* wholeChange(message)
  return {
    config: applyDelta(before.config, delta),
    secrets: secrets ?? before.secrets,
    // The same one for the same limits: what was compiled with it may stay.
    rateLimits: isChanged(rateLimits)
      ? { ...rateLimits, ...(yield* changed(before.rateLimits, rateLimits)) }
      : before.rateLimits,
    endpoints: { ...endpoints, ...(yield* changed(before.endpoints, endpoints)) },
  }
}

interface Memory {
  readonly buffer: SharedArrayBuffer
  readonly slots: LayeredMap<number>
}

function* changed(before: Memory, { buffer, slots }: SharedChange<Memory>): Steps<Memory> {
  return {
    buffer: buffer ?? before.buffer,
    slots: slots.length === 0 ? before.slots : yield* before.slots.stepsWith(slots),
  }
}

function isChanged({ buffer, slots }: SharedChange<Memory>): boolean {
  return buffer !== undefined || slots.length > 0
}
