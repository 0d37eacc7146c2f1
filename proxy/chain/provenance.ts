// The policy of each value in a merged configuration, for traces. By the identity of the value: merging copies whole
// values. Without entries for values that were combined from several, and for values that are not objects.

const POLICIES = new WeakMap<object, string>()

/** Each field of the payload comes from the policy `key`. */
export function rememberPolicy(payload: object, key: string): void {
  for (const value of Object.values(payload)) {
    if (typeof value === 'object' && value !== null) POLICIES.set(value, key)
  }
}

const PLACES = new WeakMap<object, string>()

/** The credential of inline policies, with the backend or route that has them. */
export function rememberCredential({ auth }: { readonly auth?: object | undefined }, place: string): void {
  if (auth !== undefined) PLACES.set(auth, place)
}

/** The policy, backend or route that configures a credential. */
export function userOf(auth: object): string | undefined {
  return POLICIES.get(auth) ?? PLACES.get(auth)
}

export function policyOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? POLICIES.get(value) : undefined
}
