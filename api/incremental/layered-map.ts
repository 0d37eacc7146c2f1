// A large map that changes by little from one configuration to the next: versions share what stayed, so that a new one
// costs what changed. Versions never change each other.
import { eachOf, runAll, type Steps } from './steps.ts'

/** Changes above the common base; with more of them the base is rebuilt. */
const LAYER_MAX = 128

/** A base that was built from another one remembers what it was built with, up to this many keys. */
const REBUILT_KEYS_MAX = 1024

/** What most versions share. */
interface Ground<V> {
  readonly map: ReadonlyMap<string, V>
  /** Which keys another one had to change to become this one; names it without holding it. */
  readonly rebuilt: { readonly from: number; readonly keys: readonly string[] } | undefined
  readonly id: number
}

let lastGround = 0

function groundOf<V>(map: ReadonlyMap<string, V>, rebuilt?: Ground<V>['rebuilt']): Ground<V> {
  return { map, rebuilt, id: ++lastGround }
}

export class LayeredMap<V> {
  readonly #ground: Ground<V>
  /** undefined: removed. */
  readonly #layer: ReadonlyMap<string, V | undefined>

  private constructor(ground: Ground<V>, layer: ReadonlyMap<string, V | undefined>) {
    this.#ground = ground
    this.#layer = layer
  }

  /** `ground` belongs to the map from now on. */
  static of<V>(ground: ReadonlyMap<string, V> = new Map()): LayeredMap<V> {
    return new LayeredMap(groundOf(ground), new Map())
  }

  get(key: string): V | undefined {
    const above = this.#layer.get(key)
    if (above !== undefined || this.#layer.has(key)) return above
    return this.#ground.map.get(key)
  }

  /** `changes`: undefined takes a key out. */
  with(changes: Iterable<readonly [string, V | undefined]>): LayeredMap<V> {
    return runAll(this.stepsWith(changes))
  }

  *stepsWith(changes: Iterable<readonly [string, V | undefined]>): Steps<LayeredMap<V>> {
    const layer = new Map(this.#layer)
    yield* eachOf(changes, ([key, value]) => layer.set(key, value))
    if (layer.size <= LAYER_MAX) return new LayeredMap(this.#ground, layer)
    const { id } = this.#ground
    const rebuilt = layer.size > REBUILT_KEYS_MAX ? undefined : { from: id, keys: [...layer.keys()] }
    return new LayeredMap(groundOf(yield* joined(this.#ground.map, layer), rebuilt), new Map())
  }

  /** In no order. */
  *entries(): IterableIterator<readonly [string, V]> {
    for (const entry of this.#ground.map) if (!this.#layer.has(entry[0])) yield entry
    for (const [key, value] of this.#layer) if (value !== undefined) yield [key, value]
  }

  /** What `with` needs to make this one of `before`. */
  since(before: LayeredMap<V>): (readonly [string, V | undefined])[] {
    if (before === this) return []
    const keys = new Set([...before.#layer.keys(), ...this.#layer.keys()])
    const [earlier, now] = [before.#ground, this.#ground]
    if (now.rebuilt?.from === earlier.id) for (const key of now.rebuilt.keys) keys.add(key)
    else if (now !== earlier) for (const { map } of [earlier, now]) addKeys(keys, map)
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
