// Divides a limit among namespaces (max-min fairness): a namespace with a small demand gets all of it, and the others
// share the rest equally. Pure; the result does not depend on the order of the namespaces.
import { compareText } from './order.ts'

/** A part of the demand of a namespace. */
export interface Claimant {
  readonly namespace: string
  readonly cost: number
}

/** By namespace, how much of `total` it may use; undefined: there is enough for all. */
export function fairShares(
  demands: ReadonlyMap<string, number>,
  total: number,
): ReadonlyMap<string, number> | undefined {
  const asked = [...demands.values()].reduce((sum, demand) => sum + demand, 0)
  if (asked <= total) return undefined
  const shares = new Map<string, number>()
  let left = total
  let others = demands.size
  for (const [namespace, demand] of [...demands].sort(smallerFirst)) {
    const share = Math.min(demand, Math.floor(left / others))
    shares.set(namespace, share)
    left -= share
    others--
  }
  return shares
}

function smallerFirst([a, demandA]: readonly [string, number], [b, demandB]: readonly [string, number]): number {
  return demandA - demandB || compareText(a, b)
}

/**
 * Whether each of `claimants` fits into the share of its namespace. Earlier ones come first; what is too large for the
 * rest of the share is left out, and smaller ones behind it may still fit. undefined: all fit.
 */
export function fairlyAdmitted(claimants: readonly Claimant[], total: number): readonly boolean[] | undefined {
  const demands = new Map<string, number>()
  for (const { namespace, cost } of claimants) demands.set(namespace, (demands.get(namespace) ?? 0) + cost)
  const shares = fairShares(demands, total)
  if (shares === undefined) return undefined
  const left = new Map(shares)
  return claimants.map(({ namespace, cost }) => {
    const rest = left.get(namespace) ?? 0
    if (cost > rest) return false
    left.set(namespace, rest - cost)
    return true
  })
}
