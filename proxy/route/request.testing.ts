// Requests for tests and benchmarks of this folder; not used by the proxy.
import { HeaderList } from '../message/headers.ts'
import { HttpRequest } from '../message/message.ts'

export interface RequestParts {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  readonly host?: string
  readonly headers?: readonly (readonly [string, string])[]
}

export function requestOf(parts: RequestParts): HttpRequest {
  return new HttpRequest({
    method: parts.method ?? 'GET',
    path: parts.path ?? '/',
    query: parts.query ?? '',
    host: parts.host ?? 'example.com',
    scheme: 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of(parts.headers ?? []),
  })
}
