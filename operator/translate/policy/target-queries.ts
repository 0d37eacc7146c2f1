// The targets of policies as queries. Policies with equal targetRefs and selectors share one, so that a thousand of
// them with one selector read the routes once.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { namespaceOf } from '../object-ref.ts'
import type { TargetQuery } from './targets.ts'

/** Queries that no policy has any more are dropped when there are more than this many for each policy. */
const QUERIES_PER_POLICY = 2
const QUERIES_MIN = 64

export class TargetQueries {
  readonly #ofPolicy = new WeakMap<GwPolicy, { readonly text: string; readonly query: TargetQuery }>()
  #byText = new Map<string, TargetQuery>()

  /** The same object for equal targets. */
  of(policy: GwPolicy): TargetQuery {
    const known = this.#ofPolicy.get(policy)
    if (known !== undefined) return known.query
    const namespace = namespaceOf(policy)
    const { targetRefs, targetSelectors } = policy.spec
    const text = JSON.stringify([namespace, targetRefs, targetSelectors])
    const query = this.#byText.get(text) ?? {
      namespace,
      ...(targetRefs !== undefined && { targetRefs }),
      ...(targetSelectors !== undefined && { targetSelectors }),
    }
    this.#byText.set(text, query)
    this.#ofPolicy.set(policy, { text, query })
    return query
  }

  /** Forgets what these policies do not need. */
  keepFor(policies: readonly GwPolicy[]): void {
    if (this.#byText.size <= QUERIES_PER_POLICY * policies.length + QUERIES_MIN) return
    this.#byText = new Map(
      policies.flatMap((policy) => {
        const known = this.#ofPolicy.get(policy)
        return known === undefined ? [] : [[known.text, known.query] as const]
      }),
    )
  }
}
