// The Gateways of the last translation. All queues of the leader share them.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { cachedObject } from './status-writer.ts'
import { isLeaving, type World } from './world.ts'

/** The rendered configuration of one Gateway before and after; undefined: there is none. */
export interface RenderedChange {
  readonly key: string
  readonly before: RenderedGateway | undefined
  readonly after: RenderedGateway | undefined
}

export class KnownGateways {
  readonly #world: World
  #rendered: ReadonlyMap<string, RenderedGateway> = new Map()

  constructor(world: World) {
    this.#world = world
  }

  /** Returns the changes. Unchanged configurations are the same objects, and so is a map without a change. */
  take(perGateway: ReadonlyMap<string, RenderedGateway>): RenderedChange[] {
    const known = this.#rendered
    if (perGateway === known) return []
    this.#rendered = perGateway
    const changes: RenderedChange[] = []
    for (const [key, after] of perGateway) {
      const before = known.get(key)
      if (before !== after) changes.push({ key, before, after })
    }
    for (const [key, before] of known) if (!perGateway.has(key)) changes.push({ key, before, after: undefined })
    return changes
  }

  keys(): Iterable<string> {
    return this.#rendered.keys()
  }

  /** The keys of the Gateways in a namespace. */
  in(namespace: string): string[] {
    return [...this.#rendered.keys()].filter((key) => key.startsWith(`${namespace}/`))
  }

  /** undefined also for a Gateway that is being deleted. */
  gateway(key: string): Gateway | undefined {
    const gateway = cachedObject(this.#world.cache, 'Gateway', key)
    // Of its kind in the cache.
    return gateway === undefined || isLeaving(this.#world, gateway) ? undefined : (gateway as Gateway)
  }

  /** undefined: the Gateway does not exist any more. */
  get(key: string): { readonly gateway: Gateway; readonly rendered: RenderedGateway } | undefined {
    const [gateway, rendered] = [this.gateway(key), this.#rendered.get(key)]
    return gateway === undefined || rendered === undefined ? undefined : { gateway, rendered }
  }

  /** Without those that are being deleted. */
  all(): (readonly [Gateway, RenderedGateway])[] {
    return [...this.#rendered].flatMap(([key, rendered]) => {
      const gateway = this.gateway(key)
      return gateway === undefined ? [] : [[gateway, rendered] as const]
    })
  }
}
