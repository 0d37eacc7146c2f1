// Ports for tests that need to know one before it is opened. Loopback only.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Server as HttpServer } from 'node:http'

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  server.close()
  await once(server, 'close')
  return port
}

/** Opens the server; port 0: of the system's choice. */
export async function listening(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // as above
}

export function closeServer(server: HttpServer): void {
  server.close()
  server.closeAllConnections()
}

/** As `listening`; `cleanup` gets what ends the server together with its connections. */
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
