// Reports unknown fields of `metadata`, as `kubectl apply` does: a misspelt `namespace` would put the object elsewhere.
// Only for files: objects of a cluster have passed their API server, which may know more fields. Pure.
import { nearestName } from '#api/nearest.ts'
import { fieldPath } from '#api/validate/path.ts'
import type { JsonRecord } from '#api/json.ts'

/** All fields of ObjectMeta. */
const FIELDS: readonly string[] = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generation',
  'managedFields',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]

export function unknownMetadata(metadata: JsonRecord): { path: string; message: string; reason: string }[] {
  return Object.keys(metadata)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => {
      const nearest = nearestName(field, FIELDS)
      const path = fieldPath('metadata', field)
      const message = `unknown field "${path}"${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
      return { path, message, reason: 'FieldUnknown' }
    })
}
