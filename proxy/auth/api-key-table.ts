// Known API keys by the SHA-256 digest of the key. Raw keys are hashed when they are loaded and not kept; a lookup by
// digest tells nothing about how much of a key was right.
import { hash } from 'node:crypto'
import { fromJson } from '#api/cel/values/json.ts'
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { ApiKeyHash } from '#api/ir/types.gen.ts'
import { isRecord } from '#api/json.ts'

/** CEL `apiKey` without `key`. */
export type ApiKeyMetadata = Readonly<Record<string, unknown>>

/** A secret entry and its name for warnings. */
export interface ApiKeySource {
  readonly name: string
  /** undefined: the secret is not there. */
  readonly value: string | undefined
}

const KEY_HASH = /^sha256:([0-9a-f]{64})$/i
/** Keys are short; more is not hashed. */
const KEY_LENGTH_MAX = 8192
const MEMBERS: ReadonlySet<string> = new Set(['key', 'keyHash', 'metadata'])
const NO_METADATA: ApiKeyMetadata = {}

interface KnownKey {
  /** Lower-case hex. */
  readonly digest: string
  readonly metadata: ApiKeyMetadata
}

export class ApiKeyTable {
  /** Entries that are left out and why; never a key. */
  readonly warnings: readonly string[]
  /** By digest. */
  readonly #keys = new Map<string, { readonly name: string; readonly metadata: ApiKeyMetadata }>()

  constructor(sources: readonly ApiKeySource[], hashes: readonly ApiKeyHash[]) {
    const warnings: string[] = []
    const add = (name: string, entry: KnownKey | string): void => {
      if (typeof entry === 'string') warnings.push(`API key ${name} is not used: ${entry}`)
      // Which of two equal keys counts is left open; the first one is at least always the same.
      else if (!this.#keys.has(entry.digest)) this.#keys.set(entry.digest, { name, metadata: entry.metadata })
    }
    for (const { name, value } of sources) add(name, value === undefined ? 'its secret is missing' : entryOf(value))
    for (const [index, item] of hashes.entries()) add(`hash ${index}`, keyOf({ ...item }))
    if (this.#keys.size === 0) warnings.push('no usable API key: no key is valid')
    this.warnings = warnings
  }

  get size(): number {
    return this.#keys.size
  }

  /** CEL `apiKey` for a key that is known. */
  find(key: string): Record<string, unknown> | undefined {
    if (key.length > KEY_LENGTH_MAX) return undefined
    const known = this.#keys.get(hash('sha256', key))
    // The key itself is written last: no metadata stands in its place.
    return known === undefined ? undefined : { ...known.metadata, key: new SecretString(key) }
  }

  /** Where a key that is known comes from, for traces. */
  nameOf(key: string): string | undefined {
    return this.#keys.get(hash('sha256', key))?.name
  }
}

/** A text says why it cannot be used. Files often end with a newline. */
function entryOf(value: string): KnownKey | string {
  const text = value.trim()
  if (!text.startsWith('{')) return rawKey(text, NO_METADATA)
  try {
    return keyOf(JSON.parse(text))
  } catch {
    return 'it begins as JSON and is none'
  }
}

function keyOf(entry: unknown): KnownKey | string {
  if (!isRecord(entry)) return 'it is not an object'
  // A member this version does not know may narrow what the key is for.
  const unknown = Object.keys(entry).find((member) => !MEMBERS.has(member))
  if (unknown !== undefined) return 'it has a member other than `key`, `keyHash` and `metadata`'
  const { key, keyHash, metadata = {} } = entry
  if ((key === undefined) === (keyHash === undefined)) return 'it needs exactly one of `key` and `keyHash`'
  if (!isRecord(metadata)) return '`metadata` is not an object'
  const fields = celFields(metadata)
  if (fields === undefined) return '`metadata` is nested too deeply'
  if (keyHash === undefined) return typeof key === 'string' ? rawKey(key, fields) : '`key` is not text'
  const digest = typeof keyHash === 'string' ? KEY_HASH.exec(keyHash)?.[1] : undefined
  return digest === undefined
    ? '`keyHash` is not `sha256:` and 64 hex digits'
    : { digest: digest.toLowerCase(), metadata: fields }
}

function rawKey(key: string, metadata: ApiKeyMetadata): KnownKey | string {
  if (key === '') return 'it is empty'
  return key.length > KEY_LENGTH_MAX ? 'it is too long' : { digest: hash('sha256', key), metadata }
}

/** A copy: the values become those of CEL. */
function celFields(metadata: object): ApiKeyMetadata | undefined {
  try {
    // A copy of a JSON object is one.
    return fromJson(structuredClone(metadata)) as ApiKeyMetadata
  } catch {
    return undefined
  }
}
