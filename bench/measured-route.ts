// What `make bench` sends to a server beside plain GETs.

/** Requests of one kind to one route. */
export interface MeasuredRoute {
  readonly name: string
  readonly path: string
  /** The same requests without the policy. */
  readonly comparedTo?: string
  /** Header fields, `name: value`. */
  readonly headers?: readonly string[]
  /** POST with a body of so many bytes. */
  readonly bodyBytes?: number
  /** POST with this body, without `]==]`. */
  readonly body?: string
  /** The `initialize` whose session all requests have. */
  readonly sessionFrom?: string
  /** For each answer to `body` with a session, one POST with this body and the session; without `]==]`. */
  readonly bodyInSession?: string
}
