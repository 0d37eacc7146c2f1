// TCP keepalive probes (specification, Keepalive): towards clients and towards backends.
import type { Keepalive } from './types.gen.ts'

/** Every field has a value. */
export type Probes = Required<Keepalive>

export const DEFAULT_KEEPALIVE: Probes = { enabled: true, timeMs: 180_000, intervalMs: 180_000, retries: 9 }

/** The fields of a policy, then those of `defaults`. A policy that does not set `enabled` enables probes. */
export function probesOf(policy: Keepalive | undefined, defaults: Probes = DEFAULT_KEEPALIVE): Probes {
  return policy === undefined ? defaults : { ...defaults, enabled: true, ...policy }
}
