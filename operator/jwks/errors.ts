// What can go wrong with remote key sets. Nothing here holds key material or credentials.
import { Data } from 'effect'

/** The key set could not be had from its server; it is tried again. */
export class JwksFetchError extends Data.TaggedError('JwksFetchError')<{
  readonly url: string
  /** For people: what failed, without anything that the server sent. */
  readonly detail: string
}> {}

/** The store could not be read or written. */
export class JwksStoreError extends Data.TaggedError('JwksStoreError')<{
  readonly operation: 'list' | 'put' | 'remove'
  readonly detail: string
}> {}
