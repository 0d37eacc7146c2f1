// Reads the probes of a connection from the kernel: proc(5), /proc/net/tcp. Linux only, as the gateway's image.
import { readFileSync } from 'node:fs'
import { vi } from 'vitest'

interface Connection {
  readonly localPort?: number | undefined
  readonly remotePort?: number | undefined
}

const DEADLINE_MS = 10_000
const ESTABLISHED = '01'
const KEEPALIVE_TIMER = '02'
const TICKS_PER_SECOND = 100

/** Seconds until the kernel probes the first of these connections; waits until a probe is scheduled. */
export async function secondsToProbe(connection: Connection): Promise<number> {
  return vi.waitUntil(() => probe(connection), { timeout: DEADLINE_MS })
}

function probe({ localPort, remotePort }: Connection): number | undefined {
  const waiting: number[] = []
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', state, , timer = ''] = line.trim().split(/\s+/)
    const [kind, ticks = ''] = timer.split(':')
    if (state !== ESTABLISHED || kind !== KEEPALIVE_TIMER) continue
    if (isPort(local, localPort) && isPort(remote, remotePort)) waiting.push(Number.parseInt(ticks, 16))
  }
  return waiting.length === 0 ? undefined : Math.min(...waiting) / TICKS_PER_SECOND
}

function isPort(address: string, port: number | undefined): boolean {
  return port === undefined || Number.parseInt(address.split(':')[1] ?? '', 16) === port
}
