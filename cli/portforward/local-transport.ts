// Connects to an admin server of this machine.
import { connect, type Socket } from 'node:net'
import type { AdminTransport } from './admin-client.ts'
import { localToken, type Address } from './admin-token.ts'

const PORT_MAX = 65_535
const CONNECT_MS_MAX = 10_000

/** undefined: not `host:port` or `[v6]:port`. */
export function addressOf(text: string): Address | undefined {
  const parts = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  if (parts === null || port > PORT_MAX) return undefined
  return { host: parts[1] ?? parts[2] ?? '', port }
}

export function localTransport(address: Address): AdminTransport {
  const { host, port } = address
  return {
    label: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    token: () => localToken(address),
    open: () => opened(connect({ host, port })),
  }
}

function opened(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error('connection timed out')), CONNECT_MS_MAX)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', reject)
      // The request that uses the socket adds its own listener; until then no error may be thrown.
      socket.on('error', () => undefined)
      resolve(socket)
    })
    socket.once('error', (error) => {
      clearTimeout(timer)
      reject(
        isRefused(error) ? new Error(`${error.message}; check that a proxy runs there, or set --admin-addr`) : error,
      )
    })
  })
}

function isRefused(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED'
}
