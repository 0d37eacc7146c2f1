// Two sockets joined: bytes both ways with backpressure, so memory stays constant; each direction ends by itself (half-
// close). A break of either ends both.
import type net from 'node:net'
import tls from 'node:tls'

export interface Splice {
  /** Bytes read from the first socket, and bytes written to it. */
  readonly received: number
  readonly sent: number
}

/**
 * `done`: once, when both sockets are closed; `error` says which break did it. Nobody else may read them. Their `error`
 * listeners stay, so that no late error is ever without one.
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
  // What closed before there were listeners will not say so again.
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
  // TLS reads before anybody listens, so the end of a client that came and went may be over already.
  if (from.readableEnded) to.end()
  else from.on('end', () => to.end())
  from.on('error', (cause: Error) => {
    error ??= cause
    // A TLS socket stays open after an alert, and the end that follows would look orderly.
    from.destroy()
  })
  from.on('close', () => {
    // After an orderly end what is queued may still leave; the idle bound ends a peer that never takes it.
    if (error === undefined && from.readableEnded) to.end()
    else cut(to)
    closing(error)
  })
}

/** A reset: an orderly end would make what was cut look whole. */
function cut(socket: net.Socket): void {
  if (socket.destroyed) return
  // TLS says the same by ending without its closing alert; unix sockets know no reset.
  if (socket instanceof tls.TLSSocket || socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}
