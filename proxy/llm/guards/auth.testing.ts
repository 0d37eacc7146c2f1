// The credentials of a guard's service for tests; not used by the proxy.
import type { BackendAuth } from '#api/ir/types.gen.ts'
import { compileBackendAuth } from '../../backend/auth.ts'
import type { NamedFilter } from '../../chain/filter.ts'
import { WorkerTokenStore } from '../../credentials/token-store.ts'
import { authEnvironment } from '../../policy/exchange.testing.ts'

export function authFilters(auth: BackendAuth, secrets: Readonly<Record<string, string>>): readonly NamedFilter[] {
  const environment = { ...authEnvironment(secrets), tokens: new WorkerTokenStore(), service: () => undefined }
  const { request } = compileBackendAuth(auth, environment)
  if (request === undefined) throw new Error('the credential has no filter')
  return [{ name: 'backendAuth', filter: request }]
}
