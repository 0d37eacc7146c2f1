// Heads of one request and one response: the interface between the engine and the pipeline.
import { REDACTED } from '#api/credentials/sensitive-headers.ts'
import type { OutgoingBody, StreamBody } from './body.ts'
import { HeaderList } from './headers.ts'
import type { RequestSigner } from './request-signer.ts'
import type { TrailerSource } from './trailer-fields.ts'

export type HttpVersion = 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2'

/**
 * A request. The engine has already validated the framing and removed hop-by-hop fields; `host` is the authority (Host
 * header or absolute-form), lower case, port kept; `headers` does not contain `host`.
 */
export class HttpRequest {
  method: string
  /** Path without query, in canonical form (request-path.ts); starts with `/` except for CONNECT and `OPTIONS *`. */
  path: string
  /** Query without `?`; empty if absent. */
  query: string
  host: string
  scheme: 'http' | 'https'
  version: HttpVersion
  headers: HeaderList
  /** StreamBody as received; a filter that read it replaces it by a Buffer. */
  body: StreamBody | Buffer | undefined
  /** The source of trailers; separate from the body, so that a filter that replaces the body keeps them. */
  trailerSource: TrailerSource | undefined
  /** `websocket` etc. if the client requested an upgrade (RFC 9110 section 7.8). */
  upgrade: string | undefined
  /** Query for the log, if `query` has a credential of the gateway. */
  loggedQuery: string | undefined
  /** Names of fields with credentials, of the gateway or for it: never shown. Lower case. */
  secretFields: readonly string[] | undefined
  /** Signs it when everything else is done; upstream/client.ts calls it for each endpoint. */
  signer: RequestSigner | undefined

  constructor(init: {
    method: string
    path: string
    query: string
    host: string
    scheme: 'http' | 'https'
    version: HttpVersion
    headers: HeaderList
  }) {
    this.method = init.method
    this.path = init.path
    this.query = init.query
    this.host = init.host
    this.scheme = init.scheme
    this.version = init.version
    this.headers = init.headers
    this.body = undefined
    this.trailerSource = undefined
    this.upgrade = undefined
    this.loggedQuery = undefined
    this.secretFields = undefined
    this.signer = undefined
  }

  /** Fields for logs: like `headers`, without secrets. */
  get loggedHeaders(): HeaderList {
    return withoutSecrets(this.headers, this.secretFields)
  }

  /** Fields that logs do not show. */
  hideFields(names: readonly string[]): void {
    const known = this.secretFields
    if (known === undefined) this.secretFields = names
    else if (names.some((name) => !known.includes(name))) this.secretFields = [...known, ...names]
  }

  get pathAndQuery(): string {
    return this.query === '' ? this.path : `${this.path}?${this.query}`
  }
}

export class HttpResponse {
  status: number
  headers: HeaderList
  body: OutgoingBody
  /** Created by the gateway, not by a backend. */
  readonly isLocal: boolean
  /** Like the field of a request. */
  trailerSource: TrailerSource | undefined = undefined
  /** Like the fields of a request. */
  secretFields: readonly string[] | undefined = undefined

  constructor(status: number, headers: HeaderList, body: OutgoingBody, isLocal: boolean) {
    this.status = status
    this.headers = headers
    this.body = body
    this.isLocal = isLocal
  }

  /** Fields for logs: like `headers`, without secrets. */
  get loggedHeaders(): HeaderList {
    return withoutSecrets(this.headers, this.secretFields)
  }

  /** Available after the end of the body. */
  get trailers(): HeaderList | undefined {
    return this.trailerSource?.trailers
  }

  /** The status of a gRPC call: in the trailers, or in the header fields if there is no body. */
  get grpcStatus(): string | undefined {
    return this.headers.get('grpc-status') ?? this.trailers?.get('grpc-status')
  }

  /** A response of the gateway; strings are `text/plain` unless `headers` has another type. */
  static local(status: number, body = '', headers: readonly (readonly [string, string])[] = []): HttpResponse {
    const list = HeaderList.of(headers)
    if (body !== '' && !list.has('content-type')) list.append('content-type', 'text/plain')
    return new HttpResponse(status, list, body, true)
  }
}

function withoutSecrets(headers: HeaderList, names: readonly string[] | undefined): HeaderList {
  if (names === undefined) return headers
  const shown = headers.clone()
  for (const name of names) if (shown.has(name)) shown.set(name, REDACTED)
  return shown
}
