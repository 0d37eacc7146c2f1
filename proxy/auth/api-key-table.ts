// Known API keys by the SHA-256 digest of the key. Raw keys are hashed when they are loaded, then dropped; the time of
// a lookup by digest does not reveal how much of a key was correct.
import { hash } from 'node:crypto'
import {
  API_KEY_LENGTH_MAX,
  type ApiKeyEntry,
  apiKeyEntry,
  type ApiKeyMetadata,
  apiKeyObject,
} from '#api/credentials/api-key-entry.ts'
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { ApiKeyHash } from '#api/ir/types.gen.ts'
import { KEY_ENTRY } from '../exchange/client-name.ts'

/** A secret entry and its name for warnings. */
export interface ApiKeySource {
  readonly name: string
  /** undefined: the secret does not exist. */
  readonly value: string | undefined
}

export class ApiKeyTable {
  /** Ignored entries with the reason; never a key. */
  readonly warnings: readonly string[]
  /** By digest. */
  readonly #keys = new Map<string, { readonly name: string; readonly metadata: ApiKeyMetadata }>()

  constructor(sources: readonly ApiKeySource[], hashes: readonly ApiKeyHash[]) {
    const warnings: string[] = []
    const add = (name: string, entry: ApiKeyEntry | string): void => {
      if (typeof entry === 'string') warnings.push(`API key ${name} is not used: ${entry}`)
      // The result for two equal keys is unspecified; the first one wins, so that it is stable.
      else if (!this.#keys.has(entry.digest)) this.#keys.set(entry.digest, { name, metadata: entry.metadata })
    }
    for (const { name, value } of sources) add(name, value === undefined ? 'its secret is missing' : apiKeyEntry(value))
    for (const [index, item] of hashes.entries()) add(`hash ${index}`, apiKeyObject({ ...item }))
    if (this.#keys.size === 0) warnings.push('no usable API key: every key is rejected')
    this.warnings = warnings
  }

  get size(): number {
    return this.#keys.size
  }

  /** CEL `apiKey` for a known key. */
  find(key: string): Record<string, unknown> | undefined {
    if (key.length > API_KEY_LENGTH_MAX) return undefined
    const known = this.#keys.get(hash('sha256', key))
    // The key itself is written last: metadata cannot replace it.
    return known === undefined ? undefined : { ...known.metadata, key: new SecretString(key), [KEY_ENTRY]: known.name }
  }

  /** The source of a known key, for traces. */
  nameOf(key: string): string | undefined {
    return this.#keys.get(hash('sha256', key))?.name
  }
}
