// One API key as a Secret holds it: the key itself, or JSON with it or with its hash. Proxy and operator use the same
// checks. A reason never contains the value of the entry.
import { hash } from 'node:crypto'
import { parseBoundedJson } from '../bounded-json.ts'
import { fromJson } from '../cel/values/json.ts'
import { isRecord } from '../json.ts'

/** CEL `apiKey` without `key`. */
export type ApiKeyMetadata = Readonly<Record<string, unknown>>

export interface ApiKeyEntry {
  /** SHA-256 of the key, lower-case hex. */
  readonly digest: string
  readonly metadata: ApiKeyMetadata
}

/** Keys are short; more is not hashed. */
export const API_KEY_LENGTH_MAX = 8192

const KEY_HASH = /^sha256:([0-9a-f]{64})$/i
const MEMBERS: ReadonlySet<string> = new Set(['key', 'keyHash', 'metadata'])
const NO_METADATA: ApiKeyMetadata = {}

/** A text is the reason why it cannot be used. Files often end with a newline. */
export function apiKeyEntry(value: string): ApiKeyEntry | string {
  const text = value.trim()
  if (!text.startsWith('{')) return rawKey(text, NO_METADATA)
  try {
    return apiKeyObject(parseBoundedJson(text))
  } catch {
    return 'it starts like JSON but is not valid JSON'
  }
}

export function apiKeyObject(entry: unknown): ApiKeyEntry | string {
  if (!isRecord(entry)) return 'it is not an object'
  // An unknown member may restrict the use of the key.
  const unknown = Object.keys(entry).find((member) => !MEMBERS.has(member))
  if (unknown !== undefined) return 'it has a member other than `key`, `keyHash` and `metadata`'
  const { key, keyHash, metadata = {} } = entry
  if ((key === undefined) === (keyHash === undefined)) return 'it needs exactly one of `key` and `keyHash`'
  if (!isRecord(metadata)) return '`metadata` is not an object'
  const fields = celFields(metadata)
  if (fields === undefined) return '`metadata` is nested too deeply'
  if (keyHash === undefined) return typeof key === 'string' ? rawKey(key, fields) : '`key` is not a string'
  const digest = typeof keyHash === 'string' ? KEY_HASH.exec(keyHash)?.[1] : undefined
  return digest === undefined
    ? '`keyHash` is not `sha256:` followed by 64 hex digits'
    : { digest: digest.toLowerCase(), metadata: fields }
}

function rawKey(key: string, metadata: ApiKeyMetadata): ApiKeyEntry | string {
  if (key === '') return 'it is empty'
  return key.length > API_KEY_LENGTH_MAX ? 'it is too long' : { digest: hash('sha256', key), metadata }
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
