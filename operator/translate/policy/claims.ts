// Who holds a field of a target. Policies come older first, so the first claim is the one that wins.

export type Claims = Map<string, string>

export interface Claim {
  readonly section: string
  /** Traffic only; else empty. */
  readonly phase: string
  readonly suffix: string
  /** ResolvedTarget.key */
  readonly target: string
}

/** The name of the older policy that holds this field of this target; undefined when it now belongs to `owner`. */
export function claim(claims: Claims, place: Claim, owner: string): string | undefined {
  const key = keyOf(place)
  const holder = claims.get(key)
  if (holder === undefined) claims.set(key, owner)
  return holder
}

export function isClaimed(claims: Claims, place: Claim): boolean {
  return claims.has(keyOf(place))
}

function keyOf({ section, phase, suffix, target }: Claim): string {
  return `${section}/${phase}/${suffix}/${target}`
}
