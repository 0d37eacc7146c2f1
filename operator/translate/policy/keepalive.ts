// TCP keepalive of frontend.tcp and backend.tcp: one block with the defaults of the specification.
import type { Keepalive as RenderedKeepalive } from '#api/ir/types.gen.ts'
import type { Keepalive } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'

const RETRIES = 9
const TIME_MS = 180_000

export function renderKeepalive({ retries = RETRIES, time, interval }: Keepalive): RenderedKeepalive {
  return { retries, timeMs: msOf(time), intervalMs: msOf(interval) }
}

/** A text that fits the pattern but is no duration counts as not set. */
function msOf(text: string | undefined): number {
  return (text === undefined ? undefined : durationMs(text)) || TIME_MS
}
