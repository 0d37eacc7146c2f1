// TCP keepalive probes towards clients and backends. Absent fields have the defaults of the process.
import type { Keepalive } from '#api/ir/types.gen.ts'
import type { KeepaliveFields } from '../schema/connections.ts'
import { defined } from './defined.ts'

export function renderKeepalive({ enabled, retries, time, interval }: KeepaliveFields): Keepalive {
  return defined({ enabled, retries, timeMs: time, intervalMs: interval })
}
