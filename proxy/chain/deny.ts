// Rejects all requests: replaces a security policy that cannot be enforced.
import type { Deny } from '#api/ir/types.gen.ts'
import type { CompiledPolicy } from './filter.ts'

export function compileDeny({ field, message, isBackendTls }: Deny): CompiledPolicy {
  const detail = `${field}: ${message}`
  const code = isBackendTls === true ? 'backendTlsInvalid' : 'policyDenied'
  return { request: (exchange) => exchange.fail(code, detail) }
}
