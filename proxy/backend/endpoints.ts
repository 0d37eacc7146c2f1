// Endpoints with their live counters, and the choice among them: power of two choices on an EWMA score.
// Eviction is not here: without a health policy only scores change (data-plane supplement section 5.2).
import type { UpstreamTarget } from '../upstream/target.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'

/** Weight of a new sample in health and latency averages (data-plane supplement section 5.1). */
const EWMA_ALPHA = 0.3
const PENDING_COST = 0.1

export class LiveEndpoint implements Endpoint {
  readonly target: UpstreamTarget
  readonly authority: string
  readonly label: string
  /** 0–1; starts at 1. */
  health = 1
  /** Seconds, successes only. */
  latencySeconds = 0
  pendingRequests = 0
  totalRequests = 0
  consecutiveFailures = 0

  constructor(target: UpstreamTarget, authority: string) {
    this.target = target
    this.authority = authority
    this.label = target.unixPath ?? `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  }

  begin(): void {
    this.pendingRequests++
    this.totalRequests++
  }

  end(latencyMs: number, isHealthy: boolean): void {
    this.pendingRequests--
    this.health = ewma(this.health, isHealthy ? 1 : 0)
    if (isHealthy) {
      this.consecutiveFailures = 0
      this.latencySeconds = ewma(this.latencySeconds, latencyMs / 1000)
    } else this.consecutiveFailures++
  }

  get score(): number {
    return this.health / (1 + this.latencySeconds * (1 + PENDING_COST * this.pendingRequests))
  }
}

/** Keeps endpoints over configuration changes, so that a reload does not forget which of them fail. */
export class EndpointTable {
  readonly #endpoints = new Map<string, LiveEndpoint>()
  readonly #former: EndpointTable | undefined

  constructor(former: EndpointTable | undefined) {
    this.#former = former === undefined ? undefined : former.#withoutFormer()
  }

  /** `owner` keeps the counters of two backends apart that share an address. */
  endpoint(owner: string, target: UpstreamTarget, authority: string): LiveEndpoint {
    const key = `${owner}\n${target.key}\n${authority}`
    let endpoint = this.#endpoints.get(key)
    if (endpoint === undefined) {
      endpoint = this.#former?.known(key) ?? new LiveEndpoint(target, authority)
      this.#endpoints.set(key, endpoint)
    }
    return endpoint
  }

  known(key: string): LiveEndpoint | undefined {
    return this.#endpoints.get(key)
  }

  /** One generation back is enough; a chain of tables would never be collected. */
  #withoutFormer(): EndpointTable {
    const copy = new EndpointTable(undefined)
    for (const [key, endpoint] of this.#endpoints) copy.#endpoints.set(key, endpoint)
    return copy
  }
}

/** Power of two choices with replacement; `random` gives [0, 1). */
export function powerOfTwoPicker(
  endpoints: readonly LiveEndpoint[],
  isHostname: boolean,
  random: () => number = Math.random,
): EndpointPicker {
  const only = endpoints.length === 1 ? endpoints[0] : undefined
  const find = (label: string): LiveEndpoint | undefined => endpoints.find((endpoint) => endpoint.label === label)
  if (only !== undefined) return { isHostname, pick: () => only, find }
  return {
    isHostname,
    find,
    pick() {
      const first = endpoints[Math.trunc(random() * endpoints.length)]
      const second = endpoints[Math.trunc(random() * endpoints.length)]
      if (first === undefined || second === undefined) return undefined
      return second.score > first.score ? second : first
    },
  }
}

/** An average of exactly 0 has seen nothing yet: the sample replaces it. */
function ewma(old: number, sample: number): number {
  return old === 0 ? sample : EWMA_ALPHA * sample + (1 - EWMA_ALPHA) * old
}
