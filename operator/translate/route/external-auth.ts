// The ExternalAuth filter: a service decides about each request. If it cannot be called, the request is rejected: the
// filter must never let a request pass that the service has not allowed.
import type { HTTPRouteFilter } from '#api/gateway/httproute.gen.ts'
import type { ExtAuth } from '#api/ir/types.gen.ts'
import { type ReferenceScope, type ReferenceSource, resolveReference } from '../service/reference.ts'
import type { RouteFault } from '../route-fault.ts'

type ExternalAuth = NonNullable<HTTPRouteFilter['externalAuth']>

export interface ExternalAuthTranslation {
  readonly extAuth: ExtAuth
  /** The route is served, and the filter rejects every request. */
  readonly unresolved?: Omit<RouteFault, 'path'>
}

/** Headers that a service over HTTP receives whatever the filter sets; it always receives method and path. */
const SENT_OVER_HTTP = ['host', 'authorization']

/** `from`: the route. */
export function renderExternalAuth(
  filter: ExternalAuth,
  from: ReferenceSource,
  scope: ReferenceScope,
): ExternalAuthTranslation {
  const { backendRef, protocol, forwardBody } = filter
  const { ref, invalid } = resolveReference(backendRef, from, scope)
  const bytesMax = forwardBody?.maxSize ?? 0
  const extAuth: ExtAuth = {
    service: ref,
    failureMode: 'FailClosed',
    ...(protocol === 'GRPC' ? overGrpc(filter.grpc ?? {}) : overHttp(filter.http ?? {})),
    ...(bytesMax > 0 && { forwardBody: { bytesMax } }),
  }
  return { extAuth, ...(invalid !== undefined && { unresolved: invalid }) }
}

function overGrpc({ allowedHeaders = [] }: NonNullable<ExternalAuth['grpc']>): Partial<ExtAuth> {
  return { grpc: {}, ...(allowedHeaders.length > 0 && { allowedRequestHeaders: lowered(allowedHeaders) }) }
}

function overHttp(http: NonNullable<ExternalAuth['http']>): Partial<ExtAuth> {
  const { allowedHeaders = [], allowedResponseHeaders = [] } = http
  const prefix = (http.path ?? '').replace(/\/+$/, '')
  return {
    http: {
      // A JSON string is a CEL string.
      ...(prefix !== '' && { path: `${JSON.stringify(prefix)} + string(request.pathAndQuery)` }),
      ...(allowedResponseHeaders.length > 0
        ? { allowedResponseHeaders: lowered(allowedResponseHeaders) }
        : { allowsAllResponseHeaders: true }),
    },
    allowedRequestHeaders: [...new Set([...SENT_OVER_HTTP, ...lowered(allowedHeaders)])],
  }
}

function lowered(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase())
}
