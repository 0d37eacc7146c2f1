// TCP keepalive of frontend.tcp and backend.tcp: one block with the defaults of the specification.
import { DEFAULT_KEEPALIVE } from '#api/ir/keepalive.ts'
import type { Keepalive as RenderedKeepalive } from '#api/ir/types.gen.ts'
import type { Keepalive } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'

export function renderKeepalive({ retries, time, interval }: Keepalive): RenderedKeepalive {
  const { retries: usual, timeMs, intervalMs } = DEFAULT_KEEPALIVE
  return { retries: retries ?? usual, timeMs: msOf(time) ?? timeMs, intervalMs: msOf(interval) ?? intervalMs }
}

/** A text that matches the pattern but is not a duration counts as unset. */
function msOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationMs(text) || undefined
}
