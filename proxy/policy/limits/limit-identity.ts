// The global limits of a policy with an identity for their counts, and which values of their descriptors may be shown.
import { createHash } from 'node:crypto'
import type { CelExpression } from '#api/cel/expression.ts'
import type { RateLimitGlobal, RateLimitGlobalOrConditional } from '#api/ir/types.gen.ts'

export interface IdentifiedLimit {
  readonly id: string
  readonly policy: RateLimitGlobal
}

export interface IdentifiedLimits {
  readonly condition?: string
  readonly policy: IdentifiedLimit
}

/** What the gateway has verified, apart from the credentials themselves. */
const VERIFIED = new Set(['apiKey', 'jwt', 'basicAuth'])
const CREDENTIALS = new Set(['apiKey.key', 'jwt.rawToken'])

/** A plain limit is one entry without a condition. */
export function identifiedLimits(policyKey: string, payload: RateLimitGlobalOrConditional): IdentifiedLimits[] {
  const entries = 'conditional' in payload ? payload.conditional : [{ policy: payload }]
  return entries.map(({ policy, ...rest }) => ({ ...rest, policy: { id: limitId(policyKey, rest), policy } }))
}

/** Short, as the labels of counts are, and the same after a change of the other entries. */
function limitId(policyKey: string, { condition = '' }: { readonly condition?: string }): string {
  return createHash('sha256').update(`${policyKey}\u0000${condition}`).digest('base64url')
}

/** Clients choose all other values, which may be credentials. */
export function isVerified({ source, references }: CelExpression): boolean {
  if (source.includes('unredacted')) return false
  return [...references].every((name) => VERIFIED.has(name.split('.')[0] ?? '') && !CREDENTIALS.has(name))
}
