// The provider of an LLM backend that gets a request, and its endpoint (data-plane supplement section 5.1).
import type { Endpoint } from '../backend/handler.ts'
import type { CompiledProvider } from './call.ts'

export interface Chosen {
  readonly provider: CompiledProvider
  readonly endpoint: Endpoint
}

/**
 * The first group with a provider that is not evicted, inside it the better of two random picks. When all are evicted,
 * the first group that has any endpoint.
 */
export function chooseProvider(
  groups: readonly (readonly CompiledProvider[])[],
  isAllowed: (provider: CompiledProvider) => boolean = () => true,
): Chosen | undefined {
  const [first = []] = groups
  // An only provider is chosen also when it is evicted.
  if (groups.length === 1 && first.length === 1) return first.every(isAllowed) ? pickFrom(first) : undefined
  for (const group of groups) {
    const chosen = chooseFrom(group.filter((provider) => isAllowed(provider) && provider.picker.hasActive()))
    if (chosen !== undefined) return chosen
  }
  for (const group of groups) {
    const chosen = chooseFrom(group.filter(isAllowed))
    if (chosen !== undefined) return chosen
  }
  return undefined
}

function chooseFrom(group: readonly CompiledProvider[]): Chosen | undefined {
  const first = pickFrom(group)
  const second = group.length > 1 ? pickFrom(group) : undefined
  if (first === undefined || second === undefined) return first ?? second
  return second.endpoint.score > first.endpoint.score ? second : first
}

function pickFrom(group: readonly CompiledProvider[]): Chosen | undefined {
  const provider = group[Math.trunc(Math.random() * group.length)]
  const endpoint = provider?.picker.pick()
  return provider === undefined || endpoint === undefined ? undefined : { provider, endpoint }
}
