// The part of `metadata` that a CRD leaves to the API server: names, labels and annotations.
import type { Problem } from '../problem.ts'
import { isRecord } from '../json.ts'

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const NAMESPACE = new RegExp(`^${LABEL}$`)
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const QUALIFIED = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/

const NAME_MAX = 253
const LABEL_MAX = 63

export function metadataProblems(metadata: unknown): Problem[] {
  if (!isRecord(metadata)) return [problem('metadata', 'FieldValueRequired', 'Required value')]
  return [
    ...nameProblems(metadata['name']),
    ...namespaceProblems(metadata['namespace']),
    ...labelProblems(metadata['labels']),
    ...annotationProblems(metadata['annotations']),
  ]
}

function nameProblems(name: unknown): Problem[] {
  const path = 'metadata.name'
  if (name === undefined || name === '')
    return [problem(path, 'FieldValueRequired', 'Required value: name is required')]
  if (typeof name === 'string' && name.length <= NAME_MAX && NAME.test(name)) return []
  const message = `Invalid value: must be at most ${NAME_MAX} lower-case letters, digits, "-" and ".", such as "example.com"`
  return [problem(path, 'FieldValueInvalid', message)]
}

function namespaceProblems(namespace: unknown): Problem[] {
  if (namespace === undefined || namespace === '') return []
  if (typeof namespace === 'string' && namespace.length <= LABEL_MAX && NAMESPACE.test(namespace)) return []
  const message = `Invalid value: must be at most ${LABEL_MAX} lower-case letters, digits and "-", such as "my-name"`
  return [problem('metadata.namespace', 'FieldValueInvalid', message)]
}

function labelProblems(labels: unknown): Problem[] {
  const path = 'metadata.labels'
  if (labels === undefined || labels === null) return []
  if (!isRecord(labels)) return [problem(path, 'FieldValueTypeInvalid', 'Invalid value: must be a map of strings')]
  return Object.entries(labels).flatMap(([key, value]) => {
    const isGood = value === '' || (typeof value === 'string' && value.length <= LABEL_MAX && QUALIFIED.test(value))
    if (isQualified(key) && isGood) return []
    return [problem(path, 'FieldValueInvalid', `Invalid value: label ${JSON.stringify(key)} or its value is not valid`)]
  })
}

function annotationProblems(annotations: unknown): Problem[] {
  const path = 'metadata.annotations'
  if (annotations === undefined || annotations === null) return []
  if (!isRecord(annotations)) return [problem(path, 'FieldValueTypeInvalid', 'Invalid value: must be a map of strings')]
  return Object.entries(annotations).flatMap(([key, value]) => {
    if (isQualified(key.toLowerCase()) && typeof value === 'string') return []
    return [problem(path, 'FieldValueInvalid', `Invalid value: annotation ${JSON.stringify(key)} is not valid`)]
  })
}

/** `name` or `prefix.example/name` */
function isQualified(key: string): boolean {
  const parts = key.split('/')
  const name = parts.pop() ?? ''
  const [prefix, ...more] = parts
  if (more.length > 0 || name.length > LABEL_MAX || !QUALIFIED.test(name)) return false
  return prefix === undefined || (prefix.length <= NAME_MAX && NAME.test(prefix))
}

function problem(path: string, reason: string, message: string): Problem {
  return { path, reason, message, severity: 'error' }
}
