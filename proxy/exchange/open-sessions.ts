// Sessions of MCP clients that this worker has served, for people who look. The list registers itself when MCP is
// loaded; nothing is copied until it is read.

/** A session, without its id: that is a credential. */
export interface OpenSession {
  /** Digest of the id, as in the log. */
  readonly id: string
  /** Gateway, route and backend: `ns/gateway ns/route backend`. */
  readonly scope: string
  readonly servers: readonly SessionServer[]
  /** Name and version that the client sent; undefined: not known. */
  readonly client: string | undefined
  /** Milliseconds since the epoch; undefined: another worker or replica opened it. */
  readonly openedMs: number | undefined
  readonly usedMs: number
  /** Streams, and requests that wait for a server. */
  readonly busy: number
}

export interface SessionServer {
  readonly name: string
  readonly isModern: boolean
  /** It could not be reached when the session was opened. */
  readonly isSkipped: boolean
}

export interface SessionReport {
  /** Those used last. */
  readonly sessions: readonly OpenSession[]
  readonly total: number
}

/** For one thread. */
class OpenSessions {
  /** Set by the module that keeps sessions. */
  list: (() => SessionReport) | undefined = undefined

  report(): SessionReport {
    return this.list?.() ?? { sessions: [], total: 0 }
  }
}

export const openSessions = new OpenSessions()
