// The content of Secrets and ConfigMaps is kept only for objects that translation has read: clusters have many that no
// route, policy or Gateway refers to. The others are kept bare, with their metadata.
import { isRecord } from '#api/json.ts'
import type { KubeObject } from '../translate/kube.ts'
import { keyOf } from '../translate/object-ref.ts'

/** Content of so few characters takes less memory than metadata: it is always kept, and never has to be fetched. */
const SMALL_CHARS_MAX = 512

const KINDS: ReadonlySet<string> = new Set(['Secret', 'ConfigMap'])

type OnRead = (object: KubeObject) => void

class BareObject implements KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: KubeObject['metadata']
  /** Of the entries; those of a Secret are not needed. */
  readonly entries: readonly string[]
  readonly #onRead: OnRead

  constructor({ apiVersion, kind, metadata }: KubeObject, entries: readonly string[], onRead: OnRead) {
    this.apiVersion = apiVersion
    this.kind = kind
    this.metadata = metadata
    this.entries = entries
    this.#onRead = onRead
  }

  /** Without values: what reads them is incomplete until the content has been fetched. */
  get data(): Readonly<Record<string, string>> {
    this.#onRead(this)
    return Object.fromEntries(this.entries.map((name) => [name, '']))
  }
}

/** Only its metadata is kept, although it has content. */
export function isBare(object: KubeObject | undefined): boolean {
  return object instanceof BareObject
}

export class Contents {
  /** Kind and key of objects whose content translation has read. */
  readonly #wanted = new Set<string>()
  /** Bare objects that are read for the first time; undefined: nothing is being translated. */
  #missing: Set<KubeObject> | undefined
  readonly #isWhole: (object: KubeObject) => boolean

  /** `isWhole`: objects whose content is needed outside translation. */
  constructor(isWhole: (object: KubeObject) => boolean) {
    this.#isWhole = isWhole
  }

  /** The trimmed object as it is kept. */
  fit(object: KubeObject): KubeObject {
    if (!KINDS.has(object.kind) || this.#wanted.has(idOf(object.kind, keyOf(object))) || this.#isWhole(object))
      return object
    const entries = entriesOf(object)
    const chars = entries.reduce((sum, [name, text]) => sum + name.length + text.length, 0)
    if (chars <= SMALL_CHARS_MAX) return object
    const names = object.kind === 'ConfigMap' ? entries.map(([name]) => name) : []
    return new BareObject(object, names, (bare) => this.#read(bare))
  }

  /** The object is deleted, or in the cache without its content. */
  forget(kind: string, key: string): void {
    this.#wanted.delete(idOf(kind, key))
  }

  /**
   * Returns the bare objects whose content `work` has read for the first time: they must be fetched. From now on
   * their content is kept.
   */
  reading<T>(work: () => T): { readonly result: T; readonly missing: readonly KubeObject[] } {
    const missing = new Set<KubeObject>()
    this.#missing = missing
    try {
      const result = work()
      for (const object of missing) this.#wanted.add(idOf(object.kind, keyOf(object)))
      return { result, missing: [...missing] }
    } finally {
      this.#missing = undefined
    }
  }

  #read(object: KubeObject): void {
    if (this.#missing !== undefined && !this.#wanted.has(idOf(object.kind, keyOf(object)))) this.#missing.add(object)
  }
}

function idOf(kind: string, key: string): string {
  return `${kind} ${key}`
}

function entriesOf(object: KubeObject): (readonly [name: string, text: string])[] {
  const data: unknown = 'data' in object ? object.data : undefined
  return Object.entries(isRecord(data) ? data : {}).map(([name, text]) => [name, typeof text === 'string' ? text : ''])
}
