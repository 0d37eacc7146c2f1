// TCP keepalive on a socket: probes notice dead peers, because both sides may be silent for hours.
import type net from 'node:net'
import { DEFAULT_KEEPALIVE, type Probes } from '#api/ir/keepalive.ts'

/** For a socket that is connected. */
export function keepProbing(socket: net.Socket, { enabled, timeMs, intervalMs, retries }: Probes = DEFAULT_KEEPALIVE) {
  if (enabled) socket.setKeepAlive(true, timeMs, intervalMs, retries)
}

/** For a socket that is not connected yet. */
export function keepProbingOnceOpen(socket: net.Socket, probes: Probes | undefined): void {
  socket.once('connect', () => keepProbing(socket, probes))
}
