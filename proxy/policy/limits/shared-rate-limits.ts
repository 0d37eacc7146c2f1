// The local rate limits of a configuration and their buckets in shared memory, updated from one configuration
// to the next.
import type { LocalLimit, RateLimitOrConditional, Policy, RenderedConfig, Route } from '#api/ir/types.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import { carryOver, createRateLimitBuffer, keyedLimits, type RateLimitBuffer } from './rate-limit-store.ts'

type Lists = Pick<RenderedConfig, 'policies' | 'routes'>

/** The only group: items that have limits. */
const LIMITED = 'limited'

export class SharedRateLimits {
  readonly #policies: Grouped<Policy>
  readonly #routes: Grouped<Route>
  readonly shared: RateLimitBuffer

  private constructor(policies: Grouped<Policy>, routes: Grouped<Route>, former?: SharedRateLimits) {
    this.#policies = policies
    this.#routes = routes
    const lists = { policies: policies.at(LIMITED), routes: routes.at(LIMITED) }
    if (former === undefined) this.shared = createRateLimitBuffer(limitsOf(lists))
    else if (former.#isOf(lists)) this.shared = former.shared
    else this.shared = carryOver(former.shared, limitsOf(lists))
  }

  static of({ policies, routes }: Lists): SharedRateLimits {
    return new SharedRateLimits(
      Grouped.of(policies, ({ policy }) => keysOf(policy.traffic?.rateLimit)),
      Grouped.of(routes, ({ inlinePolicies }) => keysOf(inlinePolicies?.rateLimit)),
    )
  }

  after({ policies, routes }: Lists): SharedRateLimits {
    return new SharedRateLimits(this.#policies.after(policies), this.#routes.after(routes), this)
  }

  #isOf({ policies, routes }: LimitedLists): boolean {
    return this.#policies.at(LIMITED) === policies && this.#routes.at(LIMITED) === routes
  }
}

function keysOf(limit: RateLimitOrConditional | undefined): readonly string[] {
  return limit === undefined ? [] : [LIMITED]
}

interface LimitedLists {
  readonly policies: readonly Policy[]
  readonly routes: readonly Route[]
}

/** By the key that their buckets have. */
function limitsOf({ policies, routes }: LimitedLists): ReadonlyMap<string, LocalLimit> {
  const limits = new Map<string, LocalLimit>()
  const add = (source: string, payload: RateLimitOrConditional | undefined): void => {
    if (payload === undefined) return
    for (const { policy } of keyedLimits(source, payload)) for (const { key, limit } of policy) limits.set(key, limit)
  }
  for (const { key, policy } of policies) add(key, policy.traffic?.rateLimit)
  for (const { key, inlinePolicies } of routes) add(`route/${key}`, inlinePolicies?.rateLimit)
  return limits
}
