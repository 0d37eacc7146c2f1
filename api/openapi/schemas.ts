// JSON schemas of an OpenAPI document that stand alone: references are replaced by their targets. Pure. References to
// other documents are never followed.
import { isRecord, type JsonRecord } from '../json.ts'

/** Values and characters of one resolved schema: a small document could otherwise expand without end. */
const SIZE_MAX = 262_144
/** The same of all schemas of a document: one that many operations refer to is copied into each of them. */
export const SCHEMAS_SIZE_MAX = 4 * 1024 * 1024
/** References of references. */
const STEPS_MAX = 32
/** Levels of a resolved schema: references can make it deeper than its document. */
const LEVELS_MAX = 250

/** Keywords of OpenAPI that JSON schema does not have. */
const OPENAPI_ONLY: ReadonlySet<string> = new Set(['discriminator', 'xml', 'externalDocs', 'example', 'nullable'])
/** Keywords whose members have names of the author. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
])
/** Keywords with data in place of schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required'])

/** A reference that cannot be followed; the message has its text. */
export class BrokenReference extends Error {}

/** The object that a `$ref` stands for, or the object itself. @throws {BrokenReference} */
export function followed(root: JsonRecord, value: unknown): JsonRecord {
  let current = value
  for (let step = 0; step < STEPS_MAX; step++) {
    if (!isRecord(current)) throw new BrokenReference('a reference leads to a value that is not an object')
    const { $ref: ref } = current
    if (typeof ref !== 'string') return current
    current = targetOf(root, ref)
  }
  throw new BrokenReference(`a chain of more than ${STEPS_MAX} references`)
}

/**
 * For the schemas of one document.
 * @throws {BrokenReference} also for a schema that is too large, and for all schemas after the document's limit.
 */
export type ResolveSchema = (schema: unknown) => JsonRecord

export function schemaResolver(root: JsonRecord): ResolveSchema {
  const total: Size = { size: 0 }
  return (schema) => resolvedSchema(root, schema, total)
}

interface Size {
  size: number
}

/** The schema without references. A reference to a schema that contains it becomes a schema that accepts anything. */
function resolvedSchema(root: JsonRecord, schema: unknown, total: Size): JsonRecord {
  let size = 0
  const grow = (by: number): void => {
    size += by
    total.size += by
    if (size > SIZE_MAX) throw new BrokenReference(`a schema has more than ${SIZE_MAX} characters`)
    if (total.size > SCHEMAS_SIZE_MAX) {
      throw new BrokenReference(`the schemas of the document have more than ${SCHEMAS_SIZE_MAX} characters`)
    }
  }
  const each = (map: JsonRecord, change: (key: string, member: unknown) => unknown): JsonRecord =>
    Object.fromEntries(
      Object.entries(map).map(([key, member]) => {
        grow(key.length)
        return [key, change(key, member)]
      }),
    )
  let level = 0
  const resolve = (value: unknown, path: readonly string[]): unknown => {
    if (level === LEVELS_MAX) throw new BrokenReference(`a schema has more than ${LEVELS_MAX} levels`)
    level++
    const resolved = resolveOne(value, path)
    level--
    return resolved
  }
  const resolveOne = (value: unknown, path: readonly string[]): unknown => {
    grow(typeof value === 'string' ? value.length : 1)
    if (Array.isArray(value)) return value.map((item: unknown) => resolve(item, path))
    if (!isRecord(value)) return value
    const { $ref: ref } = value
    if (typeof ref === 'string') return path.includes(ref) ? {} : resolve(targetOf(root, ref), [...path, ref])
    const known = Object.fromEntries(Object.entries(value).filter(([key]) => !OPENAPI_ONLY.has(key)))
    const resolved = each(known, (key, member) => {
      if (DATA.has(key)) {
        grow(JSON.stringify(member).length)
        return member
      }
      const isMap = MAPS.has(key) && isRecord(member)
      return isMap ? each(member, (_, one) => resolve(one, path)) : resolve(member, path)
    })
    return value['nullable'] === true ? { anyOf: [resolved, { type: 'null' }] } : resolved
  }
  const resolved = resolve(schema, [])
  return isRecord(resolved) ? resolved : {}
}

/** A JSON pointer in a fragment (RFC 6901 section 6). @throws {BrokenReference} */
function targetOf(root: JsonRecord, ref: string): unknown {
  if (!ref.startsWith('#/')) throw new BrokenReference(`the reference ${ref} leads out of the document`)
  let target: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const key = unescaped(part)
    if (!isRecord(target) || !Object.hasOwn(target, key))
      throw new BrokenReference(`the reference ${ref} has no target`)
    target = target[key]
  }
  return target
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    throw new BrokenReference(`the reference #/…/${part} is not valid`)
  }
}
