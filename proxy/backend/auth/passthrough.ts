// The token that a JWT policy verified and removed. Only of a JWT policy: without its claims there is nothing to send,
// and what the client sent without being checked is not touched.
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { AuthKind } from './kind.ts'
import { DEFAULT_LOCATION, writerFor } from './location.ts'

export const passthrough: AuthKind = ({ passthrough: isOn, location }) => {
  if (isOn !== true) return undefined
  const write = writerFor(location ?? DEFAULT_LOCATION)
  return {
    note: 'adds the credential of the verified token',
    request: ({ request, attributes }) => {
      const claims = attributes?.['jwt']
      if (typeof claims !== 'object' || claims === null || !('rawToken' in claims)) return undefined
      if (claims.rawToken instanceof SecretString) write(request, claims.rawToken.unredacted())
      return undefined
    },
  }
}
