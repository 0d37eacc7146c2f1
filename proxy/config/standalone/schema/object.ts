// Building blocks of the schemas: objects with strict fields, fields that this version does not support, and values
// that may have one of several shapes. No field of the configuration itself.
import * as z from 'zod'
import { nearestName } from '#api/nearest.ts'

/** Separator of the messages in one issue about several unknown fields. */
export const MESSAGE_SEPARATOR = '\n'

/** An object without other fields. Unknown fields are reported with the nearest valid name. */
export function fields<T extends z.core.$ZodLooseShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  const valid = Object.keys(shape).filter(
    (key) => !key.startsWith('$') && !NOT_SERVED.has(shape[key] as z.core.$ZodType),
  )
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined
      return issue.keys.map((key) => unknownField(key, valid)).join(MESSAGE_SEPARATOR)
    },
  })
}

function unknownField(key: string, valid: readonly string[]): string {
  const nearest = nearestName(key, valid)
  if (nearest !== undefined) return `unknown field ${JSON.stringify(key)}; did you mean ${nearest}?`
  return `unknown field ${JSON.stringify(key)}; valid fields: ${valid.join(', ')}`
}

type Opaque = z.ZodOptional<z.ZodUnknown>

/** Schemas of fields that messages do not suggest. */
const NOT_SERVED = new WeakSet<z.core.$ZodType>()

/** Known fields that are an error, because ignoring them would change the meaning of the file. */
export function notServed<K extends string>(names: readonly K[], hint = ''): { [P in K]: Opaque } {
  const field = z.optional(
    z
      .unknown()
      .superRefine((_value, context) => {
        context.addIssue({ code: 'custom', message: `is not supported by this version of the proxy${hint}` })
      })
      .meta(NOTHING),
  )
  NOT_SERVED.add(field)
  return record(names, field)
}

/** Security fields that are known but not supported: accepted here, and their traffic is rejected (build/denial.ts). */
export function denying<K extends string>(names: readonly K[]): { [P in K]: Opaque } {
  return record(names, z.optional(z.unknown()))
}

function record<K extends string, V>(names: readonly K[], value: V): { [P in K]: V } {
  // Object.fromEntries loses the type of the keys, which are exactly the names.
  return Object.fromEntries(names.map((name) => [name, value])) as { [P in K]: V }
}

/**
 * A value of one of several shapes: `pick` selects the shape, so that messages are about that shape alone.
 * `shapes`: all of them, for the JSON Schema.
 */
export function oneShape<T>(pick: (value: unknown) => z.ZodType<T>, shapes: readonly z.ZodType[]): z.ZodType<T> {
  return shapedLike(
    z.unknown().transform((value, context) => parsedAs(pick(value), value, context)),
    shapes,
  )
}

/** The accepted values of a schema in code; the JSON Schema of the file is derived from these. */
const SHAPES = new WeakMap<z.core.$ZodType, readonly z.ZodType[]>()

export function shapedLike<T extends z.ZodType>(schema: T, shapes: readonly z.ZodType[]): T {
  SHAPES.set(schema, shapes)
  return schema
}

export function shapesOf(schema: z.core.$ZodType): readonly z.ZodType[] | undefined {
  return SHAPES.get(schema)
}

/** In the JSON Schema: no value is valid. */
const NOTHING = { not: {} }
/** In the JSON Schema: a mapping with one of its fields. */
export const ONE_FIELD = { minProperties: 1, maxProperties: 1 }

/** Inside a transformation: parses the value by another schema, whose issues are added to this one. */
export function parsedAs<T>(schema: z.ZodType<T>, value: unknown, context: z.RefinementCtx): T {
  const result = schema.safeParse(value, { error: message })
  if (result.success) return result.data
  // A finished issue with an input is a raw one; the type of the union does not express it.
  for (const issue of result.error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue)
  return z.NEVER
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Messages for issues of zod. Never quotes a value: it may be a secret. */
export const message: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return 'is required'
    return `must be ${kindName(issue.expected)}, not ${kindName(kindOf(issue.input))}`
  }
  if (issue.code === 'invalid_value') {
    return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
  }
  if (issue.code === 'too_small') return `must be at least ${String(issue.minimum)}${unitOf(issue.origin)}`
  return issue.code === 'too_big' ? `must be at most ${String(issue.maximum)}${unitOf(issue.origin)}` : undefined
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long'
  return origin === 'array' ? ' items long' : ''
}

const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['record', 'a mapping'],
  ['null', 'empty'],
])

function kindName(kind: string): string {
  return KIND_NAMES.get(kind) ?? kind
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
