// Who learns how long connections to backends and services take to open.
export type ConnectTransport = 'plaintext' | 'tls' | 'hbone'

/** `durationMs`: until the connection can be used; with TLS after its handshake, through a proxy with all of that. */
export type ConnectObserver = (transport: ConnectTransport, durationMs: number) => void

/** The innermost: TLS to a backend counts as such, also through a tunnel. */
export function transportOf(target: { readonly tls?: unknown }): ConnectTransport {
  return target.tls === undefined ? 'plaintext' : 'tls'
}
