// Waits for the ClientHello of an accepted connection and gives the bytes back to the socket, so that the handshake, or
// a backend, sees all of them. The deadline is the caller's.
import type net from 'node:net'
import { readClientHello } from './client-hello.ts'

export type PeekOutcome =
  | { readonly serverName: string | undefined; readonly ticketNames: readonly Buffer[] }
  | { readonly problem: string; readonly hasBytes: boolean }

/** `done` is called once; not at all if other code destroys the socket. Afterwards the socket is paused. */
export function peekClientHello(socket: net.Socket, done: (outcome: PeekOutcome) => void): void {
  let seen: Buffer | undefined
  const finish = (outcome: PeekOutcome): void => {
    socket.off('data', onData)
    socket.off('end', onEnd)
    socket.pause()
    if (seen !== undefined && seen.length > 0) socket.unshift(seen)
    done(outcome)
  }
  const onData = (chunk: Buffer): void => {
    // Hellos come in one or two pieces; a client that sends single bytes is bounded by HELLO_BYTES_MAX.
    seen = seen === undefined ? chunk : Buffer.concat([seen, chunk])
    const outcome = readClientHello(seen)
    if (outcome.kind === 'Hello') finish({ serverName: outcome.serverName, ticketNames: outcome.ticketNames })
    else if (outcome.kind === 'Invalid') finish({ problem: outcome.detail, hasBytes: true })
  }
  const onEnd = (): void => {
    finish({ problem: 'client closed the connection before its ClientHello', hasBytes: seen !== undefined })
  }
  socket.on('data', onData)
  socket.on('end', onEnd)
  // It may have been paused by who read a PROXY header.
  socket.resume()
}
