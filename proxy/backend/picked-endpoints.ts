// Endpoints that an endpoint picker named for one request, in its order of preference. Only endpoints of the backend
// count: a picker cannot send requests anywhere else.
import type { LabelledEndpoints, PickedPlaces } from '../exchange/slots.ts'

export interface PickedEndpointsInput {
  /** `address:port`, preferred ones first. */
  readonly labels: readonly string[]
  /** Whether any other endpoint may be selected if the backend has none of them. */
  readonly mayBalance: boolean
  /** Endpoints of earlier tries of the same request; grows. */
  readonly tried: Set<string>
  /** The request is over. */
  readonly closed: () => void
}

export class PickedEndpoints implements PickedPlaces {
  readonly #input: PickedEndpointsInput
  /** The one that was taken. */
  selected: string | undefined = undefined

  constructor(input: PickedEndpointsInput) {
    this.#input = input
  }

  /** The first that was not tried yet; when all were, the first. */
  choose<T extends { readonly label: string }>(endpoints: LabelledEndpoints<T>): T | undefined {
    const { labels, mayBalance, tried } = this.#input
    const known = labels.map((label) => endpoints.find(label)).filter((endpoint) => endpoint !== undefined)
    const chosen = known.find(({ label }) => !tried.has(label)) ?? known[0]
    if (chosen === undefined) return mayBalance ? endpoints.pick() : undefined
    tried.add(chosen.label)
    this.selected = chosen.label
    return chosen
  }

  close(): void {
    this.#input.closed()
  }
}
