// The key of a client or a user in `Authorization`, for providers that take keys in another header field.
import type { HeaderList } from '../../message/headers.ts'

/** Users also store keys with the scheme in front. undefined: there is no bearer token. */
export function bearerToken(headers: HeaderList): string | undefined {
  return /^(?:bearer +)+(.+)$/i.exec(headers.get('authorization') ?? '')?.[1]
}
