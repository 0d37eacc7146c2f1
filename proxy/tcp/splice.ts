// Two joined sockets: bytes in both directions with backpressure, so memory stays constant; each direction ends
// separately (half-close). An error of either socket ends both.
import type net from 'node:net'
import tls from 'node:tls'

export interface Splice {
  /** Bytes read from the first socket, and bytes written to it. */
  readonly received: number
  readonly sent: number
}

/**
 * `done`: called once, when both sockets are closed, with the `error` that closed them. No other code may read them.
 * Their `error` listeners stay, so that no late error is unhandled.
 */
export function splice(first: net.Socket, second: net.Socket, done: (error: Error | undefined) => void): Splice {
  const toSecond = { bytes: 0 }
  const toFirst = { bytes: 0 }
  let closed = 0
  let error: Error | undefined
  const closing = (cause: Error | undefined): void => {
    error ??= cause
    closed++
    if (closed === 2) done(error)
  }
  // A socket that closed before the listeners were added does not report its close again.
  if (first.destroyed || second.destroyed) {
    first.destroy()
    second.destroy()
    done(undefined)
  } else {
    join({ from: first, to: second, tally: toSecond, closing })
    join({ from: second, to: first, tally: toFirst, closing })
    first.resume()
    second.resume()
  }
  return {
    get received() {
      return toSecond.bytes
    },
    get sent() {
      return toFirst.bytes
    },
  }
}

interface Direction {
  readonly from: net.Socket
  readonly to: net.Socket
  readonly tally: { bytes: number }
  readonly closing: (cause: Error | undefined) => void
}

function join({ from, to, tally, closing }: Direction): void {
  let error: Error | undefined
  from.on('data', (chunk: Buffer) => {
    tally.bytes += chunk.length
    if (!to.write(chunk)) from.pause()
  })
  to.on('drain', () => from.resume())
  // TLS reads before the first listener, so the end of a client that came and went may be over already.
  if (from.readableEnded) to.end()
  else from.on('end', () => to.end())
  from.on('error', (cause: Error) => {
    error ??= cause
    // A TLS socket stays open after an alert, and the end that follows would look orderly.
    from.destroy()
  })
  from.on('close', () => {
    // After an orderly end the queued bytes may still be sent; the idle limit ends a peer that never reads them.
    if (error === undefined && from.readableEnded) to.end()
    else cut(to)
    closing(error)
  })
}

/** A reset: after an orderly end, truncated content would look complete. */
function cut(socket: net.Socket): void {
  if (socket.destroyed) return
  // TLS signals the same by an end without a closing alert; unix sockets have no reset.
  if (socket instanceof tls.TLSSocket || socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}
