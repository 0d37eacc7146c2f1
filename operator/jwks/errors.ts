// Errors of remote key sets. They contain no key material and no credentials.
import { Data } from 'effect'

/** The key set could not be fetched from its server; the fetch is retried. */
export class JwksFetchError extends Data.TaggedError('JwksFetchError')<{
  readonly url: string
  /** A message for users: what failed, without any content from the server. */
  readonly detail: string
}> {}

/** The store could not be read or written. */
export class JwksStoreError extends Data.TaggedError('JwksStoreError')<{
  readonly operation: 'list' | 'put' | 'remove'
  readonly detail: string
}> {}
