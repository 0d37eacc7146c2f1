// TCP keepalive probes towards clients and backends.
import { DEFAULT_KEEPALIVE } from '#api/ir/keepalive.ts'
import type { Keepalive } from '#api/ir/types.gen.ts'
import type { KeepaliveFields } from '../schema/connections.ts'

export function renderKeepalive({ retries, time, interval }: KeepaliveFields): Keepalive {
  const { timeMs, intervalMs } = DEFAULT_KEEPALIVE
  return { retries: retries ?? DEFAULT_KEEPALIVE.retries, timeMs: time ?? timeMs, intervalMs: interval ?? intervalMs }
}
