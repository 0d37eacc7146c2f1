// Where a credential is written, as the contract has it.
import type { CredentialLocation } from '#api/ir/types.gen.ts'
import type { AuthorizationLocation } from '#api/v1alpha1/shared.gen.ts'

export function renderCredentialLocation({
  header,
  queryParameter,
  cookie,
}: AuthorizationLocation): CredentialLocation {
  return {
    ...(header !== undefined && {
      header: { name: header.name.toLowerCase(), ...(header.prefix !== undefined && { prefix: header.prefix }) },
    }),
    ...(queryParameter !== undefined && { queryParameter: { name: queryParameter.name } }),
    ...(cookie !== undefined && { cookie: { name: cookie.name } }),
  }
}
