// Resolves secret references of a field. The material goes to the rendered secrets; messages name only its place.
import type { SecretRef } from '#api/ir/types.gen.ts'
import type { LocalSecretKeyRef } from '#api/v1alpha1/shared.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import { nameKey } from '../object-ref.ts'
import { secretValue } from '../secret-value.ts'
import { type FieldContext, reportError } from './field.ts'

export interface SecretLookup {
  readonly ref: LocalSecretKeyRef
  readonly defaultKey: string
  readonly path: FieldPath
}

const BEARER = /^Bearer +/i

/** The key of an `Authorization` entry is the bare token, whichever way the user stored it. */
export const AUTHORIZATION_KEY = 'Authorization'

/** Always gives a reference: one whose secret is missing is a missing credential, and the proxy refuses. */
export function secretRef({ ref, defaultKey, path }: SecretLookup, context: FieldContext): SecretRef {
  const { owner, secrets } = context.scope
  const name = nameKey(owner.namespace, ref.name)
  const dataKey = ref.key ?? defaultKey
  const secret = `${name}/${dataKey}`
  const fail = (reason: string, message: string): SecretRef => {
    reportError(context, { path, reason, message })
    return { secret }
  }
  if ((ref.group ?? '') !== '' || ((ref.kind ?? '') !== '' && ref.kind !== 'Secret')) {
    return fail('InvalidKind', `unsupported credential kind ${ref.kind ?? ''}; use a core Secret`)
  }
  const found = secrets.get(owner.namespace, ref.name)
  if (found === undefined) return fail('SecretNotFound', `secret ${name} not found`)
  const stored = secretValue(found, dataKey)
  if (stored === undefined || stored === '') return fail('SecretKeyNotFound', `secret ${name} missing ${dataKey} value`)
  const value = dataKey === AUTHORIZATION_KEY ? stored.replace(BEARER, '') : stored
  context.report.secrets.push({ key: secret, value })
  return { secret }
}

/** A key written into the object itself; no Secret can bear a name that starts with a kind. */
export function inlineSecret(value: string, path: FieldPath, context: FieldContext): SecretRef {
  const { kind, namespace, name } = context.scope.owner
  const secret = `${kind}/${namespace}/${name}/${path}`
  context.report.secrets.push({ key: secret, value })
  return { secret }
}
