// One API key of a ConfigMap: JSON with a hash, never the key itself. No message contains the text: it may be a key.
import type { ApiKeyHash } from '#api/ir/types.gen.ts'
import { isRecord, parseJson } from '#api/json.ts'

export type ApiKeyHashOutcome =
  | { readonly hash: ApiKeyHash }
  | { readonly reason: 'RawKeyNotAllowed' | 'InvalidKeyHash'; readonly problem: string }

const KEY_HASH = /^sha256:[0-9a-f]{64}$/i
const MEMBERS: ReadonlySet<string> = new Set(['keyHash', 'metadata'])

export function apiKeyHash(text: string): ApiKeyHashOutcome {
  const entry = parseObject(text)
  if (entry === undefined || Object.hasOwn(entry, 'key')) {
    const problem =
      'contains a raw key, which is not allowed in a ConfigMap: store {"keyHash": "sha256:<hex>"}, or use a Secret'
    return { reason: 'RawKeyNotAllowed', problem }
  }
  const { keyHash, metadata } = entry
  if (typeof keyHash !== 'string' || !KEY_HASH.test(keyHash)) {
    return invalid('needs keyHash, "sha256:" and 64 hex digits')
  }
  // An unknown member may restrict the use of the key.
  if (Object.keys(entry).some((member) => !MEMBERS.has(member))) {
    return invalid('has a member other than keyHash and metadata')
  }
  if (metadata === undefined) return { hash: { keyHash } }
  return isRecord(metadata) ? { hash: { keyHash, metadata } } : invalid('has metadata that is not an object')
}

function invalid(problem: string): ApiKeyHashOutcome {
  return { reason: 'InvalidKeyHash', problem }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
