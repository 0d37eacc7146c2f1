// A key of a secret. A missing or empty one fails the call: an empty credential is never sent.
import type { CredentialLocation, SecretRef } from '#api/ir/types.gen.ts'
import type { AuthEnvironment, AuthKind, BrokenAuth, CompiledAuth } from './kind.ts'
import { DEFAULT_LOCATION, writerFor } from './location.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

export const key: AuthKind = ({ key: ref, location }, environment) =>
  ref && keyAt(ref, location ?? DEFAULT_LOCATION, environment)

export function keyAt(
  ref: SecretRef,
  location: CredentialLocation,
  { secret }: Pick<AuthEnvironment, 'secret'>,
): CompiledAuth | BrokenAuth {
  // Secrets made from files often end with a newline.
  const value = secret(ref)?.trim()
  if (value === undefined || value === '') return { problem: `secret ${ref.secret} is missing or unusable` }
  if (CONTROL.test(value)) return { problem: `secret ${ref.secret} contains control characters` }
  const write = writerFor(location)
  return {
    note: `adds the credential of ${ref.secret}`,
    request: ({ request }) => {
      write(request, value)
      return undefined
    },
  }
}
