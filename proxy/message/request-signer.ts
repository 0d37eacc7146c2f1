// Signatures that cover a whole request: made last, after every change of head and body, for the endpoint that gets it.
import type { HeaderList } from './headers.ts'

/** The request as it goes out; its signer reads it and changes nothing. */
export interface SignableRequest {
  readonly method: string
  readonly pathAndQuery: string
  /** Value of the Host header. */
  readonly authority: string
  readonly headers: HeaderList
  /** The whole body. */
  readonly body: Buffer | undefined
}

/** `fields`: header fields to set, none of which logs show. `problem`: why there is no signature, for the log. */
export type Signature = { readonly fields: readonly (readonly [string, string])[] } | { readonly problem: string }

/**
 * Called once for each endpoint that is tried. Must not reject.
 *
 * @param signal aborts when no caller waits any more; undefined: the call outlives its client
 */
export type RequestSigner = (request: SignableRequest, signal: AbortSignal | undefined) => Promise<Signature>
