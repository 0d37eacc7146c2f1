// Endpoints that can be called, and the choice among them: power of two choices on a score, evicted ones last
// (data-plane supplement section 5.1). The figures are shared by all workers (endpoint-store.ts).
import type { UpstreamTarget } from '../upstream/target.ts'
import { EndpointStore, localState, type EndpointState } from './endpoint-store.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'

const PENDING_COST = 0.1
/** Draws before the evicted endpoints are sorted out one by one. */
const DRAWS_MAX = 4

export class LiveEndpoint implements Endpoint {
  readonly target: UpstreamTarget
  readonly authority: string
  readonly label: string
  readonly state: EndpointState

  constructor(target: UpstreamTarget, authority: string, state: EndpointState = localState()) {
    this.target = target
    this.authority = authority
    this.label = labelOf(target)
    this.state = state
  }

  get isEvicted(): boolean {
    return this.state.isEvicted
  }

  get score(): number {
    const { health, latencySeconds, pendingRequests } = this.state
    return health / (1 + latencySeconds * (1 + PENDING_COST * pendingRequests))
  }

  begin(): void {
    this.state.begin()
  }

  end(latencyMs: number, isHealthy: boolean): void {
    if (isHealthy) this.state.succeeded(latencyMs)
    else this.state.failed()
  }
}

export function labelOf({ host, port, unixPath }: Pick<UpstreamTarget, 'host' | 'port' | 'unixPath'>): string {
  return unixPath ?? `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Under which the state of an endpoint is kept. `owner` keeps two backends apart that share an address. */
export function endpointKey(owner: string, address: Pick<UpstreamTarget, 'host' | 'port' | 'unixPath'>): string {
  return `${owner}|${labelOf(address)}`
}

/** The endpoints of one configuration. Their state outlives it. */
export class EndpointTable {
  readonly #store: EndpointStore
  readonly #endpoints = new Map<string, LiveEndpoint>()

  constructor(store: EndpointStore = EndpointStore.local()) {
    this.#store = store
  }

  /** Users of an address that reach it differently have endpoints of their own with one state. */
  endpoint(owner: string, target: UpstreamTarget, authority: string): LiveEndpoint {
    const key = `${owner}\n${target.key}\n${authority}`
    let endpoint = this.#endpoints.get(key)
    if (endpoint === undefined) {
      endpoint = new LiveEndpoint(target, authority, this.#store.state(endpointKey(owner, target)))
      this.#endpoints.set(key, endpoint)
    }
    return endpoint
  }
}

/**
 * Power of two choices with replacement among the endpoints that are not evicted; among all when every one is (States
 * and transitions of the specification). `random` gives [0, 1).
 */
export function powerOfTwoPicker(
  endpoints: readonly LiveEndpoint[],
  isHostname: boolean,
  random: () => number = Math.random,
): EndpointPicker {
  const only = endpoints.length === 1 ? endpoints[0] : undefined
  let byLabel: ReadonlyMap<string, LiveEndpoint> | undefined
  const find = (label: string): LiveEndpoint | undefined => {
    byLabel ??= new Map(endpoints.map((endpoint) => [endpoint.label, endpoint]))
    return byLabel.get(label)
  }
  const hasActive = (): boolean => endpoints.some(({ state }) => state.tryRestore())
  if (only !== undefined) {
    const pick = (): LiveEndpoint => {
      only.state.tryRestore()
      return only
    }
    return { isHostname, pick, find, hasActive }
  }
  return {
    isHostname,
    find,
    hasActive,
    pick() {
      const first = drawActive(endpoints, random)
      const second = drawActive(endpoints, random)
      if (first === undefined || second === undefined) return undefined
      return second.score > first.score ? second : first
    },
  }
}

/** A few draws from all give the same odds as one draw from the active ones, and cost nothing while none is evicted. */
function drawActive(endpoints: readonly LiveEndpoint[], random: () => number): LiveEndpoint | undefined {
  for (let draws = 0; draws < DRAWS_MAX; draws++) {
    const drawn = draw(endpoints, random)
    if (drawn === undefined || drawn.state.tryRestore()) return drawn
  }
  const active = endpoints.filter(({ state }) => state.tryRestore())
  return draw(active.length === 0 ? endpoints : active, random)
}

function draw(endpoints: readonly LiveEndpoint[], random: () => number): LiveEndpoint | undefined {
  return endpoints[Math.trunc(random() * endpoints.length)]
}
