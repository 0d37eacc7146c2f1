// From the errors of the structural check to problems: the API server's paths and its wording, without the rejected
// value (it may be a secret).
import { nearestName } from '../nearest.ts'
import type { Problem } from '../problem.ts'
import { fieldPath, pointerPath, valueAt } from './path.ts'
import { type Structure, type StructureError, structureErrors } from './structure-check.ts'

export function structureProblems(structure: Structure, object: unknown): Problem[] {
  return structureErrors(structure, object).map((error) => {
    const problem = toProblem(error, object)
    if (error.keyword !== 'additionalProperties') return problem
    const meant = nearestName(String(error.params['additionalProperty']), fieldsAt(structure, error.instancePath))
    return meant === undefined ? problem : { ...problem, meant }
  })
}

/** Names of the fields at a JSON pointer. Names of fields have no characters that a pointer escapes. */
function fieldsAt(structure: Structure, pointer: string): readonly string[] {
  let at: Structure | undefined = structure
  for (const token of pointer.split('/').slice(1)) at = at === undefined ? at : below(at, token)
  return Object.keys(at?.properties ?? {})
}

function below({ properties, items, rest }: Structure, token: string): Structure | undefined {
  if (items !== undefined) return typeof items === 'function' ? items() : items
  if (properties !== undefined && Object.hasOwn(properties, token)) return properties[token]
  return typeof rest === 'object' ? rest : undefined
}

interface Finding {
  readonly reason: string
  readonly message: string
  /** A field below the place of the error. */
  readonly field?: string
}

function toProblem(error: StructureError, object: unknown): Problem {
  const place = pointerPath(error.instancePath, object)
  const describe = FINDINGS[error.keyword] ?? otherFinding
  const { reason, message, field } = describe(error, { place, value: valueAt(error.instancePath, object) })
  const path = field === undefined ? place : fieldPath(place, field)
  return { path, reason, message, severity: 'error' }
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

function otherFinding({ keyword }: StructureError): Finding {
  return invalid(`is not valid (${keyword})`)
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
