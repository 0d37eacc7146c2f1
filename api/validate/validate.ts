// The API server's verdict on an object of our kinds or of the Gateway API, without an API server: unknown fields,
// structure, unique lists, then the CEL rules. Never throws for user input.
import type { Problem } from '../problem.ts'
import { withDefaults } from './defaults.ts'
import { KINDS, type KindSchema } from './kinds/register.gen.ts'
import { listProblems } from './lists.ts'
import { metadataProblems } from './metadata.ts'
import { ruleProblems } from './rules.ts'
import { isRecord } from '../json.ts'
import { structureProblems } from './structure.ts'

export interface Validation {
  readonly problems: readonly Problem[]
}

/** After one of these the API server does not run the rules: they could not be trusted. */
const BLOCKING = new Set([
  'FieldUnknown',
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** @param options.oldObject the object before an update, for rules that compare with it */
export function validateObject(object: unknown, options: { readonly oldObject?: unknown } = {}): Validation {
  const kind = kindOf(object)
  if (kind === undefined) return { problems: [unknownKind(object)] }
  const complete = applyDefaults(object)
  const problems = [
    ...metadataProblems(isRecord(object) ? object['metadata'] : undefined),
    ...structureProblems(kind.structure, complete),
    ...listProblems(kind.semantics, complete),
  ]
  if (problems.some(({ reason }) => BLOCKING.has(reason))) return { problems }
  const oldObject = options.oldObject === undefined ? undefined : applyDefaults(options.oldObject)
  return { problems: [...problems, ...ruleProblems(kind.semantics, complete, oldObject)] }
}

/** `object` with the defaults of the schema: a copy, or the object itself if nothing changes or its kind is unknown. */
export function applyDefaults<T>(object: T): T {
  const kind = kindOf(object)
  if (kind === undefined) return object
  // Defaults only add fields that the type of the object declares.
  return withDefaults(kind.semantics, object) as T
}

/** Whether `object` names a kind that can be validated. */
export function isKnownKind(object: unknown): boolean {
  return kindOf(object) !== undefined
}

export function kindOf(object: unknown): KindSchema | undefined {
  if (!isRecord(object)) return undefined
  return KINDS.get(`${String(object['apiVersion'])}/${String(object['kind'])}`)
}

function unknownKind(object: unknown): Problem {
  if (!isRecord(object)) {
    return { path: '', reason: 'FieldValueTypeInvalid', message: 'must be an object', severity: 'error' }
  }
  const { apiVersion = 'none', kind = 'none' } = object
  const known = [...KINDS.keys()].join(', ')
  const message = `apiVersion ${JSON.stringify(apiVersion)} with kind ${JSON.stringify(kind)} is not supported; supported are ${known}`
  return { path: 'kind', reason: 'KindUnknown', message, severity: 'error' }
}
