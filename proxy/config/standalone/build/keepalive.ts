// TCP keepalive probes towards clients and backends: one block with the defaults of the specification.
import type { Keepalive } from '#api/ir/types.gen.ts'
import type { KeepaliveFields } from '../schema/connections.ts'

const RETRIES = 9
const TIME_MS = 180_000

export function renderKeepalive({ retries = RETRIES, time = TIME_MS, interval = TIME_MS }: KeepaliveFields): Keepalive {
  return { retries, timeMs: time, intervalMs: interval }
}
