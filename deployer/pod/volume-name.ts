// Volume names derived from names of ConfigMaps, which may be longer and hold dots.
import { createHash } from 'node:crypto'

/** DNS label. */
const CHARS_MAX = 63
const HASH_CHARS = 12

export function volumeName(prefix: string, name: string): string {
  const full = `${prefix}${name}`
  if (full.length <= CHARS_MAX && !name.includes('.')) return full
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS)
  const kept = full.replaceAll('.', '-').slice(0, CHARS_MAX - HASH_CHARS - 1)
  return `${kept.replace(/-+$/, '')}-${hash}`
}
