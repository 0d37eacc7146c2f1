// Why a handshake of a client failed, for the log: what OpenSSL and the socket report, in words that name the cure.

/** By code of the error. */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ['ERR_SSL_HTTP_REQUEST', 'the client sent plain HTTP to a TLS port'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'client and listener have no TLS version in common'],
  ['ERR_SSL_VERSION_TOO_LOW', 'client and listener have no TLS version in common'],
  ['ERR_SSL_NO_SHARED_CIPHER', 'client and listener have no cipher suite in common'],
  ['ERR_SSL_NO_SUITABLE_KEY_SHARE', 'client and listener have no key exchange group in common'],
  ['ERR_SSL_NO_APPLICATION_PROTOCOL', 'client and listener have no protocol (ALPN) in common'],
  ['ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', 'the client sent no certificate'],
  ['ERR_SSL_CERTIFICATE_VERIFY_FAILED', 'the certificate of the client is not valid'],
  ['ECONNRESET', 'client closed the connection during the handshake'],
])
/** The client reports it with an alert. */
const ALERT = /ALERT_(.+)$/
const DISTRUST: ReadonlySet<string> = new Set([
  'UNKNOWN_CA',
  'BAD_CERTIFICATE',
  'CERTIFICATE_UNKNOWN',
  'CERTIFICATE_EXPIRED',
  'CERTIFICATE_REVOKED',
  'UNSUPPORTED_CERTIFICATE',
])

export function handshakeCause(error: Error): string {
  const { code = '', reason = '' } = error as { readonly code?: unknown; readonly reason?: unknown } // of Node's TLS
  const known = CAUSES.get(String(code))
  if (known !== undefined) return known
  const alert = ALERT.exec(String(code))?.[1]
  if (alert !== undefined) {
    const words = alert.toLowerCase().replaceAll('_', ' ')
    return DISTRUST.has(alert)
      ? `the client rejected the certificate (alert ${words})`
      : `the client ended the handshake (alert ${words})`
  }
  return reason === '' ? error.message : String(reason)
}
