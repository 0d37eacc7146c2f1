// CEL `source` and `destination`: facts about a client's connection. Alone they are the variables of
// `frontend.networkAuthorization`, which runs before there is a request.
import type { CelVariables } from '#api/cel/expression.ts'
import { CEL_FIELDS } from '#api/cel/values/host.ts'
import { HeaderView } from '#api/cel/values/header-view.ts'
import type { ConnectionOrigin } from '../socket/connection-origin.ts'
import type { PeerCertificate } from '../socket/peer.ts'

export interface ConnectionSource {
  readonly sourceAddress: string
  readonly sourcePort: number
  readonly localAddress: string
  readonly localPort: number
  readonly sni: string | undefined
  /** Verified client certificate. */
  readonly peer?: PeerCertificate | undefined
  /** If the source above is not that of the socket: it came with a PROXY header, or through a tunnel. */
  readonly origin?: ConnectionOrigin | undefined
}

const ONLY_SOURCE: ReadonlySet<string> = new Set(['source'])

/** Only `source` exists. */
export function sourceVariables(connection: ConnectionSource): CelVariables {
  return { source: new SourceView(connection), [CEL_FIELDS]: ONLY_SOURCE }
}

const SOURCE: ReadonlySet<string> = new Set([
  'address',
  'port',
  'rawAddress',
  'rawPort',
  'identity',
  'spiffeId',
  'subjectAltNames',
  'issuer',
  'subject',
  'subjectCn',
  'certificate',
  'connectHeaders',
])

export class SourceView {
  readonly #connection: ConnectionSource

  constructor(connection: ConnectionSource) {
    this.#connection = connection
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return SOURCE
  }

  get address(): string {
    return this.#connection.sourceAddress
  }

  get port(): bigint {
    return BigInt(this.#connection.sourcePort)
  }

  get rawAddress(): string {
    return this.#connection.origin?.address ?? this.address
  }

  get rawPort(): bigint {
    return BigInt(this.#connection.origin?.port ?? this.#connection.sourcePort)
  }

  get identity(): object | undefined {
    return this.#connection.peer?.identity
  }

  get spiffeId(): string | undefined {
    return this.#connection.peer?.spiffeId
  }

  get subjectAltNames(): readonly string[] | undefined {
    return this.#connection.peer?.subjectAltNames
  }

  get issuer(): string | undefined {
    return this.#connection.peer?.issuer
  }

  get subject(): string | undefined {
    return this.#connection.peer?.subject
  }

  get subjectCn(): string | undefined {
    return this.#connection.peer?.subjectCn
  }

  get certificate(): string | undefined {
    return this.#connection.peer?.certificate
  }

  get connectHeaders(): HeaderView | undefined {
    const headers = this.#connection.origin?.connectHeaders
    return headers && new HeaderView(headers)
  }
}

const DESTINATION: ReadonlySet<string> = new Set(['address', 'port', 'hostname'])

export class DestinationView {
  readonly #connection: ConnectionSource

  constructor(connection: ConnectionSource) {
    this.#connection = connection
  }

  get [CEL_FIELDS](): ReadonlySet<string> {
    return DESTINATION
  }

  get address(): string {
    return this.#connection.localAddress
  }

  get port(): bigint {
    return BigInt(this.#connection.localPort)
  }

  get hostname(): string | undefined {
    return this.#connection.sni
  }
}
