// What the server side of a worker is to its connections.
import type { Http2Takeover } from './handler.ts'

export interface ConnectionOwner<C> {
  readonly isDraining: boolean
  /** Takes over a connection that turned out to speak HTTP/2; undefined: HTTP/2 is not served. */
  readonly http2: Http2Takeover | undefined
  requestStarted(): void
  requestFinished(): void
  connectionClosed(connection: C): void
}
