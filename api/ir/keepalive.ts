// Default TCP keepalive probes (specification, Keepalive): towards clients and towards backends.
import type { Keepalive } from './types.gen.ts'

export const DEFAULT_KEEPALIVE: Keepalive = { timeMs: 180_000, intervalMs: 180_000, retries: 9 }
