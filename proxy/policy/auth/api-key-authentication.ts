// Checks API keys of clients (data-plane supplement section 8.2). A valid key is removed from the request; its
// metadata and the key itself, as a secret, are CEL `apiKey`.
import type { ApiKeyAuthentication } from '#api/ir/types.gen.ts'
import { compileCredentialReader } from '../../auth/credential-reader.ts'
import { setAttribute } from '../../chain/attributes.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'

export function compileApiKeyAuthentication(
  auth: ApiKeyAuthentication,
  environment: Pick<ChainEnvironment, 'auth' | 'expression'>,
): CompiledPolicy {
  const { mode } = auth
  const table = environment.auth.apiKey(auth)
  const reader = compileCredentialReader(auth.location, 'Bearer ', environment.expression)
  return {
    request: (exchange) => {
      const key = reader.read(exchange)
      if (key === undefined) {
        if (mode === 'Strict') return exchange.failVisibly('apiKeyAuthFailed', 'no API Key found')
        exchange.trace?.skip(`no key; mode ${mode} allows the request`)
        return undefined
      }
      const found = table.find(key)
      if (found === undefined && mode === 'Permissive') {
        exchange.trace?.note('mode Permissive allows the request: unknown key')
        return undefined
      }
      // A rejected key is removed as well: a key in the query must not be logged.
      reader.remove(exchange)
      if (found === undefined) return exchange.failVisibly('apiKeyAuthFailed', 'invalid credentials')
      if (exchange.trace !== undefined) exchange.trace.note(`the key is ${table.nameOf(key) ?? 'known'}`)
      setAttribute(exchange, 'apiKey', found)
      return undefined
    },
    readsRequestBody: reader.readsRequestBody,
  }
}
