// Where clients without a valid certificate are accepted, a certificate that fails verification must not end the
// connection. OpenSSL keeps the error of the signature in its queue although the handshake continues, and node:tls
// takes it for an error of the connection (SSL_get_error needs an empty queue before the call).
import tls from 'node:tls'

type Report = (this: unknown, error: Error) => void
type Init = (this: tls.TLSSocket, ...args: unknown[]) => unknown

/** What node:tls keeps to itself: there is no other way to its errors before a connection is secure. */
interface WithHandle {
  readonly _handle?: { onerror?: Report } | null
}

/** Called by node:tls for each socket that it makes, and by no other code. */
interface WithInit {
  _init?: Init
}

/** Errors of the connection itself name the library that speaks TLS. */
const OF_THE_CONNECTION = 'SSL routines'

/** Set while `handOver` runs. */
let made: tls.TLSSocket[] | undefined
let isWatching = false

/**
 * `handOver` gives a connection to a tls.Server, which makes the socket of its handshake at once and shows it only when
 * the handshake is over. For that socket errors of the TLS library still end the connection, others do not. A handshake
 * that does not continue ends at its deadline.
 */
export function withoutVerificationErrors(handOver: () => void): void {
  watch()
  const sockets: tls.TLSSocket[] = []
  made = sockets
  try {
    handOver()
  } finally {
    made = undefined
  }
  for (const socket of sockets) ignoreVerificationErrors(socket)
}

/** Once for the process. Where node has the member no more, nothing is changed, and the tests fail. */
function watch(): void {
  if (isWatching) return
  isWatching = true
  // The member is not part of the types.
  const prototype = tls.TLSSocket.prototype as unknown as WithInit
  const init = prototype._init
  if (init === undefined) return
  prototype._init = function (...args) {
    made?.push(this)
    return init.apply(this, args)
  }
}

function ignoreVerificationErrors(socket: tls.TLSSocket): void {
  // The member is not part of the types.
  const handle = (socket as unknown as WithHandle)._handle
  const report = handle?.onerror
  if (handle === undefined || handle === null || report === undefined) return
  handle.onerror = function (error) {
    if (error.message.includes(OF_THE_CONNECTION)) report.call(this, error)
  }
}
