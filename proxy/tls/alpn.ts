// The application protocols TLS listeners may agree on. Only what the proxy speaks is ever offered.

/** HTTP protocols of this proxy, best first. */
const SERVED_HTTP: readonly string[] = ['h2', 'http/1.1']

export interface AlpnChoice {
  /** undefined: the extension is not answered. */
  readonly protocols: readonly string[] | undefined
  readonly warnings: readonly string[]
}

/** For listeners that speak HTTP. */
export function httpAlpn(wanted: readonly string[] | undefined): AlpnChoice {
  if (wanted === undefined) return { protocols: SERVED_HTTP, warnings: [] }
  const protocols = wanted.filter((name) => SERVED_HTTP.includes(name))
  const warnings = wanted
    .filter((name) => !SERVED_HTTP.includes(name))
    .map((name) => `application protocol ${name} is not supported and is not offered`)
  // A client that offers protocols and finds none of its own refuses the handshake; without the extension it speaks
  // what it likes, which for HTTP is HTTP/1.1.
  return { protocols: protocols.length === 0 ? undefined : protocols, warnings }
}

/** For bytes that are passed on: whatever the policy names is between client and backend. */
export function rawAlpn(wanted: readonly string[] | undefined): AlpnChoice {
  return { protocols: wanted, warnings: [] }
}
