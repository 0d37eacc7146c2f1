// Facts of a connection from its start: addresses, TLS, and the content of a PROXY header.
import type { PeerCertificate } from './peer.ts'
import type { ConnectionOrigin } from './connection-origin.ts'

export interface ConnectionFacts {
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly localAddress: string
  readonly localPort: number
  readonly isTls: boolean
  readonly sni: string | undefined
  /** Verified client certificate. */
  readonly peer?: PeerCertificate | undefined
  /** Set if the source above is not the address of the socket: it comes from a PROXY header or a tunnel. */
  readonly origin?: ConnectionOrigin | undefined
}

/** A connection that has its facts. */
export class KnownPeer implements ConnectionFacts {
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly localAddress: string
  readonly localPort: number
  readonly isTls: boolean
  readonly sni: string | undefined
  readonly peer: PeerCertificate | undefined
  readonly origin: ConnectionOrigin | undefined

  constructor(facts: ConnectionFacts) {
    this.sourceAddress = facts.sourceAddress
    this.sourcePort = facts.sourcePort
    this.localAddress = facts.localAddress
    this.localPort = facts.localPort
    this.isTls = facts.isTls
    this.sni = facts.sni
    this.peer = facts.peer
    this.origin = facts.origin
  }
}
