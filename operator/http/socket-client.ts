// Sends one HTTP request over a socket that the caller has opened (through a proxy, or with its own TLS settings).
// Never opens another connection, not even if the socket is closed.
import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'

/** Undici requires an origin. Requests set their own Host header. */
const ORIGIN = 'http://localhost'

/** The caller destroys it, or takes over the socket with CONNECT. */
export function socketClient(socket: Socket): Dispatcher {
  let isGiven = false
  return new Client(ORIGIN, {
    pipelining: 1,
    // Deferred: undici ignores a connection that is returned synchronously.
    connect: (_target, done) =>
      setImmediate(() => {
        if (isGiven || socket.destroyed) return done(new Error('the connection was closed'), null)
        isGiven = true
        return done(null, socket)
      }),
  })
}

/** RFC 9110 section 9.3.6. @throws {Error} with a message for users. */
export async function tunnel(proxy: Socket, authority: string, signal: AbortSignal): Promise<Socket> {
  const client = socketClient(proxy)
  const { statusCode, socket } = await client.connect({
    origin: ORIGIN,
    path: authority,
    headers: { host: authority },
    signal,
  })
  if (statusCode !== 200) throw new Error(`the proxy rejected the tunnel with ${statusCode}`)
  // The server must not speak first, neither in HTTP nor in TLS.
  if (socket.readableLength > 0) throw new Error('the proxy sent data after its response')
  // Undici returns the socket that it was given.
  return proxy
}
