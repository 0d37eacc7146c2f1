// Inline policies in the configuration dump: a list with one object for each field, as policies are shown elsewhere.
// Pure.
import type { BackendPayload, TrafficPayload } from '#api/ir/types.gen.ts'

export function dumpInline(policies: BackendPayload | TrafficPayload | undefined): {
  inlinePolicies?: Record<string, unknown>[]
} {
  if (policies === undefined) return {}
  return { inlinePolicies: Object.entries(policies).map(([field, value]) => ({ [field]: value })) }
}
