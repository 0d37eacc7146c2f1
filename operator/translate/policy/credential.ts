// Resolves secret references of a field. The material goes to the rendered secrets; messages name only its place.
import type { SecretRef } from '#api/ir/types.gen.ts'
import type { LocalSecretKeyRef } from '#api/v1alpha1/shared.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { Secret } from '../kube.ts'
import { keyOf, nameKey } from '../object-ref.ts'
import { secretValue } from '../secret-value.ts'
import { type FieldContext, reportError } from './field.ts'

export interface SecretLookup {
  readonly ref: LocalSecretKeyRef
  readonly defaultKey: string
  readonly path: FieldPath
}

const BEARER = /^Bearer +/i

/** If it is the default, its value is the bare token, with or without `Bearer` in the Secret. */
export const AUTHORIZATION_KEY = 'Authorization'

/** Always returns a reference: without its secret the credential is missing, and the proxy rejects the request. */
export function secretRef({ ref, defaultKey, path }: SecretLookup, context: FieldContext): SecretRef {
  const { owner, secrets } = context.scope
  const name = nameKey(owner.namespace, ref.name)
  const dataKey = ref.key ?? defaultKey
  const secret = `${name}/${dataKey}`
  const fail = (reason: string, message: string): SecretRef => {
    reportError(context, { path, reason, message })
    return { secret }
  }
  if (!isCoreSecret(ref)) {
    return fail('InvalidKind', `unsupported credential kind ${ref.kind ?? ''}; use a core Secret`)
  }
  const found = secrets.get(owner.namespace, ref.name)
  if (found === undefined) return fail('SecretNotFound', `secret ${name} not found`)
  const stored = secretValue(found, dataKey)
  if (stored === undefined || stored === '') return fail('SecretKeyNotFound', `secret ${name} missing ${dataKey} value`)
  if (defaultKey !== AUTHORIZATION_KEY) return storedSecret(found, dataKey, context)
  const value = dataKey === AUTHORIZATION_KEY ? stored.replace(BEARER, '') : stored
  context.report.secrets.push({ key: secret, value })
  return { secret }
}

/** An empty group or kind counts as unset. */
export function isCoreSecret({ group, kind }: { readonly group?: string; readonly kind?: string }): boolean {
  return (group ?? '') === '' && ((kind ?? '') === '' || kind === 'Secret')
}

/** An entry as it is stored. One under `Authorization` has a key of its own, apart from the bare token in it. */
export function storedSecret(object: Secret, dataKey: string, context: FieldContext): SecretRef {
  const name = `${keyOf(object)}/${dataKey}`
  const secret = dataKey === AUTHORIZATION_KEY ? `${name}#stored` : name
  context.report.secrets.push({ key: secret, value: secretValue(object, dataKey) ?? '' })
  return { secret }
}

/** A key written into the object itself; no Secret can have a name that starts with a kind. */
export function inlineSecret(value: string, path: FieldPath, context: FieldContext): SecretRef {
  const { kind, namespace, name } = context.scope.owner
  const secret = `${kind}/${namespace}/${name}/${path}`
  context.report.secrets.push({ key: secret, value })
  return { secret }
}
