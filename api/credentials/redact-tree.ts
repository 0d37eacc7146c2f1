// A copy of configuration data without possible credentials. Rendered configuration has only references to secrets;
// this removes what users wrote into plain fields: values of credential headers, environments of child processes.
import { publicKeySet } from './key-set.ts'
import { isSensitiveHeader, REDACTED } from './sensitive-headers.ts'

/** Rendered configuration is much flatter; deeper data is cut. */
const DEPTH_MAX = 64
/** Fields with the value of a named header or entry. */
const VALUE_FIELDS = new Set(['value', 'expression'])
/** Key sets are delivered with public members only; an older controller may have delivered others. */
const KEY_SET_FIELD = 'jwks'

export function redactTree<T>(value: T): T {
  // The copy has the same shape: only strings are replaced, by strings.
  return redactNode(value, 0) as T
}

function redactNode(value: unknown, depth: number): unknown {
  if (depth > DEPTH_MAX) return REDACTED
  if (Array.isArray(value)) return value.map((item) => redactNode(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  const name = fields.find(([key]) => key === 'name')?.[1]
  const isCredential = typeof name === 'string' && isSensitiveHeader(name)
  return Object.fromEntries(
    fields.map(([key, item]) => {
      const isHidden = key === 'env' || (isCredential && VALUE_FIELDS.has(key))
      if (key === KEY_SET_FIELD && typeof item === 'string') return [key, publicKeySet(item)?.jwks ?? REDACTED]
      return [key, isHidden ? hideStrings(item, depth + 1) : redactNode(item, depth + 1)]
    }),
  )
}

function hideStrings(value: unknown, depth: number): unknown {
  if (depth > DEPTH_MAX || typeof value === 'string') return REDACTED
  if (Array.isArray(value)) return value.map((item) => hideStrings(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hideStrings(item, depth + 1)]))
}
