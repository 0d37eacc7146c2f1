// Two descriptions of an error: the complete one for the log, and one for the client, without internals of the gateway.
// The second never has addresses, names in certificates or texts of other programs.

export interface Diagnosis {
  readonly log: string
  /**
   * Follows the text of the failure in the response. Fixed words of the proxy, or content that the client itself sent.
   */
  readonly client: string
}

/** A string is for the log only. */
export type Detail = string | Diagnosis

/** For texts of the proxy itself, without addresses and names. */
export function shown(text: string): Diagnosis {
  return { log: text, client: text }
}

export function logOf(detail: Detail): string {
  return typeof detail === 'string' ? detail : detail.log
}

/** Adds the peer, for the log only. */
export function at(peer: string, detail: Detail): Detail {
  const log = `${peer}: ${logOf(detail)}`
  return typeof detail === 'string' ? log : { log, client: detail.client }
}

/** Codes of errors of sockets (errno) and of TLS (OpenSSL verification, Node). */
const PHRASES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['ECONNABORTED', 'connection reset'],
  ['EPIPE', 'connection reset'],
  ['ETIMEDOUT', 'connection timed out'],
  ['EHOSTUNREACH', 'host unreachable'],
  ['EHOSTDOWN', 'host unreachable'],
  ['ENETUNREACH', 'network unreachable'],
  ['ENOENT', 'no such socket'],
  ['EPROTO', 'TLS handshake failed'],
  ['CERT_HAS_EXPIRED', 'the certificate has expired'],
  ['CERT_NOT_YET_VALID', 'the certificate is not valid yet'],
  ['CERT_REVOKED', 'the certificate is revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another name'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'a client certificate is required'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the peer does not speak TLS'],
])
const UNTRUSTED =
  /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH)/

/** An error of a connection: the log gets its message, the client a phrase. */
export function peerProblem(error: Error | undefined, otherwise: string): Diagnosis {
  if (error === undefined) return shown(otherwise)
  return { log: logTextOf(error), client: phraseOf(error) ?? otherwise }
}

/** Before the settings of the peer: bytes that are not frames belong to another protocol, usually HTTP/1.1. */
export function http2Problem(error: Error): Diagnosis {
  const isOther = 'code' in error && error.code === 'ERR_HTTP2_ERROR'
  return isOther ? shown('the peer does not speak HTTP/2') : peerProblem(error, 'connection failed')
}

/** Removes source locations of OpenSSL, and advice on how to start Node.js. */
function logTextOf(error: Error): string {
  const { message } = error
  if ('reason' in error && typeof error.reason === 'string' && message.includes(':SSL routines:'))
    return `TLS: ${error.reason}`
  const advice = message.indexOf('; if the root CA is installed locally')
  return advice < 0 ? message : message.slice(0, advice)
}

/** Settings that do not allow a connection: an invalid certificate, key or bundle. */
export function setupProblem(error: unknown): Diagnosis {
  return { log: messageOf(error), client: 'the connection cannot be set up' }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function phraseOf(error: Error): string | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const phrase = PHRASES.get(code)
  if (phrase !== undefined) return phrase
  if (UNTRUSTED.test(code)) return 'the certificate is not trusted'
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'TLS handshake failed'
  return code.startsWith('ERR_HTTP2_') ? 'HTTP/2 protocol error' : undefined
}
