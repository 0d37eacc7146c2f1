// The digest of the definition of an MCP tool: what a model reads of it. The same on every machine. Pure.
import { createHash } from 'node:crypto'
import { exactDigits } from '../bounded-json.ts'
import { isRecord, type JsonRecord } from '../json.ts'

/** Without the name, which pins have as well: gateways put a prefix in front of it. Other members are for programs. */
const PARTS = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const

/** `sha256:` and 64 hexadecimal digits. `tool`: as `parseJsonExactly` returns it. */
export function toolDigest(tool: JsonRecord): string {
  const definition = Object.fromEntries(
    PARTS.flatMap((part) => (Object.hasOwn(tool, part) ? [[part, tool[part]]] : [])),
  )
  return `sha256:${createHash('sha256')
    .update(JSON.stringify(sorted(definition)))
    .digest('hex')}`
}

/** With the members of objects in the order of their names (as RFC 8785 section 3.2.3). */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value) || exactDigits(value) !== undefined) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}
