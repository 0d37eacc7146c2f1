// From the errors of a compiled validator to problems: the API server's paths and its wording, without the refused
// value (it may be a secret).
import type { Problem } from '../problem.ts'
import { fieldPath, pointerPath, valueAt } from './path.ts'

/** What ajv reports. */
export interface StructureError {
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}

export interface StructureValidator {
  (object: unknown): boolean
  errors?: readonly StructureError[] | null
}

export function structureProblems(validate: StructureValidator, object: unknown): Problem[] {
  if (validate(object)) return []
  return (validate.errors ?? []).filter((error) => !isInsideAlternative(error)).map((error) => toProblem(error, object))
}

/** Only the verdict of oneOf, anyOf and not is told, not why each alternative failed. */
export function isInsideAlternative({ schemaPath }: StructureError): boolean {
  return /\/(?:anyOf|oneOf)\/\d+\/|\/not\//.test(schemaPath)
}

interface Finding {
  readonly reason: string
  readonly message: string
  /** A field below the place ajv names. */
  readonly field?: string
}

function toProblem(error: StructureError, object: unknown): Problem {
  const place = pointerPath(error.instancePath, object)
  const describe = FINDINGS[error.keyword] ?? otherFinding
  const { reason, message, field } = describe(error, { place, value: valueAt(error.instancePath, object) })
  return { path: field === undefined ? place : fieldPath(place, field), reason, message, severity: 'error' }
}

interface Context {
  readonly place: string
  readonly value: unknown
}

type Describe = (error: StructureError, context: Context) => Finding

const QUOTED_MAX = 64

const invalid = (text: string): Finding => ({ reason: 'FieldValueInvalid', message: `Invalid value: ${text}` })

const FINDINGS: Readonly<Record<string, Describe>> = {
  required: ({ params }) => {
    return { reason: 'FieldValueRequired', message: 'Required value', field: String(params['missingProperty']) }
  },
  additionalProperties: ({ params }, { place }) => {
    const field = String(params['additionalProperty'])
    return { reason: 'FieldUnknown', message: `unknown field "${fieldPath(place, field)}"`, field }
  },
  type: ({ params }, { place, value }) => ({
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${place} in body must be of type ${[params['type']].flat().join(' or ')}: "${typeName(value)}"`,
  }),
  enum: ({ params }, { value }) => {
    const allowed = [params['allowedValues']].flat().map((each) => JSON.stringify(each))
    const message = `Unsupported value: ${quoted(value)}: supported values: ${allowed.join(', ')}`
    return { reason: 'FieldValueNotSupported', message }
  },
  maxLength: ({ params }) => {
    return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${String(params['limit'])} bytes` }
  },
  maxItems: ({ params }, { value }) => ({
    reason: 'FieldValueTooMany',
    message: `Too many: ${Array.isArray(value) ? value.length : '?'}: must have at most ${String(params['limit'])} items`,
  }),
  maxProperties: ({ params }, { value }) => ({
    reason: 'FieldValueTooMany',
    message: `Too many: ${Object.keys(Object(value)).length}: must have at most ${String(params['limit'])} items`,
  }),
  pattern: ({ params }, { place }) => invalid(`${place} in body should match '${String(params['pattern'])}'`),
  minLength: ({ params }, { place }) => {
    return invalid(`${place} in body should be at least ${String(params['limit'])} chars long`)
  },
  minItems: ({ params }, { place }) =>
    invalid(`${place} in body should have at least ${String(params['limit'])} items`),
  minProperties: ({ params }, { place }) => {
    return invalid(`${place} in body should have at least ${String(params['limit'])} properties`)
  },
  minimum: ({ params }, { place }) => {
    return invalid(`${place} in body should be greater than or equal to ${String(params['limit'])}`)
  },
  maximum: ({ params }, { place }) => {
    return invalid(`${place} in body should be less than or equal to ${String(params['limit'])}`)
  },
  format: ({ params }, { place }) => ({
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${place} in body must be of type ${String(params['format'])}`,
  }),
}

function otherFinding({ keyword, message = 'is not valid' }: StructureError): Finding {
  return invalid(`${message} (${keyword})`)
}

/** A value that should have been a fixed word: no secret, but perhaps long. */
function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}
