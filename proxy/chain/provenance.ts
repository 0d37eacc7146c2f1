// Which policy a value of a merged configuration comes from, for traces. By the identity of the value: merging takes
// values over whole. Says nothing of values that were put together from several, or that are no objects.

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
