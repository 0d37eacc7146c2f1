// A large map that changes by little from one configuration to the next: versions share what stayed, so that a new one
// costs what changed. Versions never change each other.
import { eachOf, runAll, type Steps } from './steps.ts'

/** Changes above the common base; with more of them the base is rebuilt. */
const LAYER_MAX = 128

export class LayeredMap<V> {
  readonly #ground: ReadonlyMap<string, V>
  /** undefined: removed. */
  readonly #layer: ReadonlyMap<string, V | undefined>

  private constructor(ground: ReadonlyMap<string, V>, layer: ReadonlyMap<string, V | undefined>) {
    this.#ground = ground
    this.#layer = layer
  }

  /** `ground` belongs to the map from now on. */
  static of<V>(ground: ReadonlyMap<string, V> = new Map()): LayeredMap<V> {
    return new LayeredMap(ground, new Map())
  }

  get(key: string): V | undefined {
    const above = this.#layer.get(key)
    if (above !== undefined || this.#layer.has(key)) return above
    return this.#ground.get(key)
  }

  /** `changes`: undefined takes a key out. */
  with(changes: Iterable<readonly [string, V | undefined]>): LayeredMap<V> {
    return runAll(this.stepsWith(changes))
  }

  *stepsWith(changes: Iterable<readonly [string, V | undefined]>): Steps<LayeredMap<V>> {
    const layer = new Map(this.#layer)
    yield* eachOf(changes, ([key, value]) => layer.set(key, value))
    if (layer.size <= LAYER_MAX) return new LayeredMap(this.#ground, layer)
    return LayeredMap.of(yield* joined(this.#ground, layer))
  }

  /** In no order. */
  *entries(): IterableIterator<readonly [string, V]> {
    for (const entry of this.#ground) if (!this.#layer.has(entry[0])) yield entry
    for (const [key, value] of this.#layer) if (value !== undefined) yield [key, value]
  }

  /** What `with` needs to make this one of `before`. */
  since(before: LayeredMap<V>): (readonly [string, V | undefined])[] {
    const keys = new Set([...before.#layer.keys(), ...this.#layer.keys()])
    if (before.#ground !== this.#ground) for (const map of [before.#ground, this.#ground]) addKeys(keys, map)
    const changes: (readonly [string, V | undefined])[] = []
    for (const key of keys) {
      const value = this.get(key)
      if (value !== before.get(key)) changes.push([key, value])
    }
    return changes
  }
}

function* joined<V>(
  ground: ReadonlyMap<string, V>,
  layer: ReadonlyMap<string, V | undefined>,
): Steps<ReadonlyMap<string, V>> {
  const map = new Map<string, V>()
  yield* eachOf(ground, ([key, value]) => map.set(key, value))
  yield* eachOf(layer, ([key, value]) => {
    if (value === undefined) map.delete(key)
    else map.set(key, value)
  })
  return map
}

function addKeys(keys: Set<string>, map: ReadonlyMap<string, unknown>): void {
  for (const key of map.keys()) keys.add(key)
}
