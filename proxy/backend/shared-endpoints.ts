// The endpoints of a configuration and their places in shared memory, kept up to date from one configuration to the
// next.
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { EndpointKeys } from './endpoint-keys.ts'
import { EndpointPlaces } from './endpoint-places.ts'
import type { EndpointBuffer } from './endpoint-store.ts'

export class SharedEndpoints {
  readonly #keys: EndpointKeys
  readonly #places: EndpointPlaces

  private constructor(keys: EndpointKeys, places: EndpointPlaces) {
    this.#keys = keys
    this.#places = places
  }

  static of(config: RenderedConfig, workers: number): SharedEndpoints {
    const keys = EndpointKeys.of(config)
    return new SharedEndpoints(keys, EndpointPlaces.of(keys.all(), workers))
  }

  after(config: RenderedConfig): SharedEndpoints {
    const keys = this.#keys.after(config)
    return keys === this.#keys ? this : new SharedEndpoints(keys, this.#places.after(keys.since(this.#keys)))
  }

  get shared(): EndpointBuffer {
    return this.#places.shared
  }
}
