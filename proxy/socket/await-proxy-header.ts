// Waits for the PROXY header of an accepted socket and returns the bytes after it to the socket, for connections that
// are not plain HTTP (../http/arrival.ts handles those).
import type net from 'node:net'
import { PROXY_HEADER_TIMEOUT_MS, type ProxyRule, readProxyHeader, type TransportedAddresses } from './proxy-header.ts'

export type AwaitedHeader =
  | { readonly addresses: TransportedAddresses | undefined }
  /** undefined: the peer closed the connection without sending a byte, as health checks do. */
  | { readonly detail: string | undefined }

const NOTHING = Buffer.alloc(0)

/** Calls `done` once, or never if other code destroys the socket. Then the socket is paused. */
export function awaitProxyHeader(socket: net.Socket, rule: ProxyRule, done: (outcome: AwaitedHeader) => void): void {
  let seen: Buffer = NOTHING
  const finish = (outcome: AwaitedHeader, rest: Buffer): void => {
    clearTimeout(timer)
    socket.off('data', onData)
    socket.off('end', onEnd)
    socket.off('close', onClose)
    socket.pause()
    if (rest.length > 0) socket.unshift(rest)
    done(outcome)
  }
  const onData = (chunk: Buffer): void => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
    const outcome = readProxyHeader(seen, rule)
    if (outcome.kind === 'Invalid') finish({ detail: outcome.detail }, NOTHING)
    else if (outcome.kind === 'Plain') finish({ addresses: undefined }, seen)
    else if (outcome.kind === 'Header') finish({ addresses: outcome.addresses }, seen.subarray(outcome.length))
  }
  const onEnd = (): void => {
    finish(
      { detail: seen.length === 0 ? undefined : 'the peer closed the connection in the middle of its PROXY header' },
      NOTHING,
    )
  }
  const onClose = (): void => clearTimeout(timer)
  const timer = setTimeout(() => {
    // A client that sent nothing did not start a header: in some protocols the server sends first.
    if (seen.length === 0 && !rule.isRequired) finish({ addresses: undefined }, NOTHING)
    else finish({ detail: 'timeout while waiting for the PROXY header' }, NOTHING)
  }, PROXY_HEADER_TIMEOUT_MS).unref()
  socket.on('data', onData)
  socket.on('end', onEnd)
  socket.on('close', onClose)
}
