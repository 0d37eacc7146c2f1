// Refuses everything: stands for a security policy that cannot be enforced.
import type { Deny } from '#api/ir/types.gen.ts'
import type { CompiledPolicy } from './filter.ts'

export function compileDeny({ field, message }: Deny): CompiledPolicy {
  const detail = `${field}: ${message}`
  return { request: (exchange) => exchange.fail('policyDenied', detail) }
}
