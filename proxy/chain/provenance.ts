// The policy of each value in a merged configuration, for traces. By the identity of the value: merging copies whole
// values. Without entries for values that were combined from several, and for values that are not objects.

const POLICIES = new WeakMap<object, string>()

/** Each field of the payload comes from the policy `key`. */
export function rememberPolicy(payload: object, key: string): void {
  for (const value of Object.values(payload)) {
    if (typeof value === 'object' && value !== null) POLICIES.set(value, key)
  }
}

export function policyOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? POLICIES.get(value) : undefined
}
