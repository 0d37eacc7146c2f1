// Where clients without a valid certificate are let in, a certificate that failed to be verified must not end the
// connection. OpenSSL leaves the error of the signature in its queue though the handshake goes on, and node:tls takes
// it for an error of the connection (SSL_get_error wants the queue to be empty before the call).
import type tls from 'node:tls'

type Report = (this: unknown, error: Error) => void

/** What node:tls keeps to itself: there is no other way to its errors before a connection is secure. */
interface WithHandle {
  readonly _handle?: { onerror?: Report } | null
}

/** Errors of the connection itself name the library that speaks TLS. */
const OF_THE_CONNECTION = 'SSL routines'

const guarded = new WeakSet<object>()

/** Errors of the TLS library still end the connection. A handshake that does not go on ends at its deadline. */
export function ignoreVerificationErrors(socket: tls.TLSSocket): void {
  // The member is not part of the types; where node has it no more, nothing is changed.
  const handle = (socket as unknown as WithHandle)._handle
  const report = handle?.onerror
  if (handle === undefined || handle === null || report === undefined || guarded.has(handle)) return
  guarded.add(handle)
  handle.onerror = function (error) {
    if (error.message.includes(OF_THE_CONNECTION)) report.call(this, error)
  }
}
