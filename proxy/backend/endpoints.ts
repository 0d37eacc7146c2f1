// Endpoints with the score that load balancing uses (data-plane supplement section 5.1).
// The figures are shared by all workers (endpoint-store.ts).
import type { UpstreamTarget } from '../upstream/target.ts'
import { EndpointStore, type EndpointStates, localState, type EndpointState } from './endpoint-store.ts'
import type { Endpoint } from './handler.ts'

const PENDING_COST = 0.1

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

/** The key of the state of an endpoint. `owner` separates two backends that share an address. */
export function endpointKey(owner: string, address: Pick<UpstreamTarget, 'host' | 'port' | 'unixPath'>): string {
  return `${owner}|${labelOf(address)}`
}

/** The endpoints of one configuration. Their state outlives it. */
export class EndpointTable {
  readonly #store: EndpointStates
  readonly #endpoints = new Map<string, LiveEndpoint>()

  constructor(store: EndpointStates = EndpointStore.local()) {
    this.#store = store
  }

  /** Users of an address with different connections have separate endpoints with one state. */
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
