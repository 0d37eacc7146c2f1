// Traffic policies of InferencePools, which look like Services here. They run before a backend is selected: if the
// rule also has other backends, they cannot run, and requests to the pool are rejected.
import type { BackendReference, RouteBackend, ServiceReference } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { type PolicyIndex, serviceLevels } from '../policy/policy-index.ts'

/** undefined: the backends of the rule are not all one Service. */
export function commonService(backends: readonly RouteBackend[]): ServiceReference | undefined {
  const [first, ...rest] = backends.map(({ ref }) => ref.service)
  return first !== undefined && rest.every((one) => one !== undefined && isSameService(one, first)) ? first : undefined
}

/** For backends of a rule without a common Service: a policy that cannot run must not be bypassed. */
export function withTrafficDenied(
  policies: EffectiveBackend,
  { service }: BackendReference,
  index: PolicyIndex,
): EffectiveBackend {
  const levels = service === undefined ? [] : serviceLevels(service)
  if (!levels.some((level) => index.at(level).some(({ policy }) => policy.traffic !== undefined))) return policies
  const message = 'traffic policies of an InferencePool apply only to rules without other backends'
  return { ...policies, deny: policies.deny ?? { field: 'traffic', message } }
}

function isSameService(a: ServiceReference, b: ServiceReference): boolean {
  return a.namespace === b.namespace && a.hostname === b.hostname
}
