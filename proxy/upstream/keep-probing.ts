// TCP keepalive towards backends and services: dead ones are noticed by probes, for answers may be silent for hours.
import type net from 'node:net'
import { DEFAULT_KEEPALIVE } from '#api/ir/keepalive.ts'
import type { UpstreamTarget } from './target.ts'

/** For a socket that is not connected yet. */
export function keepProbing(socket: net.Socket, { keepalive = DEFAULT_KEEPALIVE }: Pick<UpstreamTarget, 'keepalive'>) {
  const { timeMs, intervalMs, retries } = keepalive
  socket.once('connect', () => socket.setKeepAlive(true, timeMs, intervalMs, retries))
}
