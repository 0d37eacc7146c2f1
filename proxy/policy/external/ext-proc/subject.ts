// The message that is processed, request or response, behind one interface: the rest of the policy does not
// distinguish them.
import type { HeaderMutation } from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { OutgoingBody, StreamBody } from '../../../message/body.ts'
import type { HeaderList } from '../../../message/headers.ts'
import type { IncomingBody } from '../../../message/incoming-body.ts'
import type { HttpResponse } from '../../../message/message.ts'
import { Tunnel } from '../../../socket/tunnel.ts'
import type { SideName } from './modes.ts'
import { editRequest, editResponse } from './mutation.ts'

export interface Subject {
  readonly side: SideName
  readonly headers: HeaderList
  /** The original body; undefined: there is none. */
  readonly body: NonNullable<OutgoingBody> | undefined
  readonly mayHaveTrailers: boolean
  /** Name, value, …, without the fields. */
  pseudoHeaders(): readonly string[]
  /** Of the original body, after it was read to its end. */
  trailers(): HeaderList | undefined
  /** The new content-length. @throws {RefusedMutation} with nothing changed. */
  edit(mutation: HeaderMutation | undefined): number | undefined
  put(body: Buffer | IncomingBody | undefined): void
  /** Everything unchanged, except the body. */
  restore(): void
}

export function requestSubject({ request }: Exchange): Subject {
  const { method, path, query, host, scheme, headers, body, trailerSource } = request
  const before = { method, path, query, host, scheme, headers: headers.clone() }
  return {
    side: 'request',
    get headers() {
      return request.headers
    },
    body: presentBody(body),
    mayHaveTrailers: mayHaveTrailers(body),
    pseudoHeaders() {
      const line = [':method', request.method, ':path', request.pathAndQuery]
      return [...line, ':scheme', request.scheme, ':authority', request.host]
    },
    trailers: () => trailerSource?.trailers,
    edit: (mutation) => editRequest(request, mutation),
    put(processed) {
      request.body = processed
      if (processed !== undefined && !Buffer.isBuffer(processed)) request.trailerSource = processed
    },
    restore() {
      Object.assign(request, before, { headers: before.headers.clone() })
    },
  }
}

export function responseSubject(response: HttpResponse): Subject {
  const { status, headers, body, trailerSource } = response
  const before = { status, headers: headers.clone() }
  return {
    side: 'response',
    get headers() {
      return response.headers
    },
    body: presentBody(body),
    mayHaveTrailers: trailerSource !== undefined,
    pseudoHeaders: () => [':status', String(response.status)],
    trailers: () => trailerSource?.trailers,
    edit: (mutation) => editResponse(response, mutation),
    put(processed) {
      response.body = processed
      if (processed !== undefined && !Buffer.isBuffer(processed)) response.trailerSource = processed
    },
    restore() {
      Object.assign(response, before, { headers: before.headers.clone() })
    },
  }
}

/** A tunnel has no body to process, and neither has an absent body. */
function presentBody(body: OutgoingBody): NonNullable<OutgoingBody> | undefined {
  if (body === undefined || body instanceof Tunnel) return undefined
  return (typeof body === 'string' || Buffer.isBuffer(body)) && body.length === 0 ? undefined : body
}

function mayHaveTrailers(body: StreamBody | Buffer | undefined): boolean {
  return body !== undefined && !Buffer.isBuffer(body) && 'mayHaveTrailers' in body && body.mayHaveTrailers === true
}
