// Ports for tests that need a port number before the port is opened. Loopback only.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Server as HttpServer } from 'node:http'

/**
 * Below the ports that systems assign for port 0: a proxy with such a port opens other ports too, and connects to
 * upstreams.
 */
const FIRST_PORT = 28_100
const PORTS = 4_600
/** Test files that run at the same time use different ranges: no file may get a port that another one will open. */
const SHARES = 4
const PORTS_OF_SHARE = PORTS / SHARES
const share = Number(process.env['VITEST_POOL_ID'] ?? 1) % SHARES
const ATTEMPTS_MAX = 100

const given = new Set<number>()

/** A port that was free a moment ago; each port is returned only once. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = FIRST_PORT + share * PORTS_OF_SHARE + randomInt(PORTS_OF_SHARE)
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error(`no free port from ${FIRST_PORT} on was found`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/** Opens the server on a port that the system assigns. */
export async function listening(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // as above
}

export function closeServer(server: HttpServer): void {
  server.close()
  server.closeAllConnections()
}

/** As `listening`; `cleanup` gets a function that ends the server with its connections. */
export async function listeningUntil(cleanup: (() => unknown)[], server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  const port = await listening(server)
  cleanup.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return port
}
