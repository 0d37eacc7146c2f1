// What is known of a connection from its start: its ends, TLS, and what a PROXY header said.
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
  /** Where the source above is not the socket's: it came with a PROXY header, or through a tunnel. */
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
