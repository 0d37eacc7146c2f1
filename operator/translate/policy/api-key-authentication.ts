// traffic.apiKeyAuthentication. Keys of Secrets stay secret; ConfigMaps may hold only hashes. Without a usable key no
// key is valid, and Strict rejects every request.
import { apiKeyEntry } from '#api/credentials/api-key-entry.ts'
import type { ApiKeyAuthentication, ApiKeyHash, SecretRef, TrafficPayload } from '#api/ir/types.gen.ts'
import type { APIKeyAuthentication, APIKeySelector } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { LocalSecretObjectRef } from '#api/v1alpha1/shared.gen.ts'
import { apiKeyHash } from './api-key-hash.ts'
import type { ConfigMap, KubeObject, Secret } from '../kube.ts'
import { matchesLabels } from '../labels.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import { compareText, sortedBy } from '../order.ts'
import { secretEntries, secretValue } from '../secret-value.ts'
import type { ObjectIndex } from '../snapshot.ts'
import { isCoreSecret, storedSecret } from './credential.ts'
import { locationField } from './extraction-location.ts'
import { type FieldContext, type FieldTranslator, reportError } from './field.ts'

type Keys = Pick<ApiKeyAuthentication, 'keys' | 'hashes'>

export const apiKeyAuthentication: FieldTranslator<APIKeyAuthentication, TrafficPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    const { mode = 'Strict', location } = value
    const rendered = { mode, ...keysOf(value, context), ...locationField(location, context) }
    return [{ suffix: 'apikeyauth', payload: { apiKeyAuthentication: rendered } }]
  },
}

function keysOf({ secretRef, secretSelector, configMapSelector }: APIKeyAuthentication, context: FieldContext): Keys {
  const { secrets, configMaps } = context.scope
  if (secretRef !== undefined) return { keys: named(secretRef, context) }
  if (secretSelector !== undefined) {
    const found = selected({ objects: secrets, selector: secretSelector, field: 'secretSelector' }, context)
    return { keys: found.flatMap((secret) => keysOfSecret(secret, 'secretSelector', context)) }
  }
  if (configMapSelector === undefined) return { keys: [] }
  const found = selected({ objects: configMaps, selector: configMapSelector, field: 'configMapSelector' }, context)
  return { hashes: found.flatMap((configMap) => hashesOf(configMap, context)) }
}

function named(ref: LocalSecretObjectRef, context: FieldContext): SecretRef[] {
  const { name } = ref
  const { owner, secrets } = context.scope
  const path = `${context.path}.secretRef`
  if (!isCoreSecret(ref)) {
    const message = `unsupported credential kind ${ref.kind ?? ''}; use a core Secret`
    reportError(context, { path, reason: 'InvalidKind', message })
    return []
  }
  const secret = secrets.get(owner.namespace, name)
  if (secret !== undefined) return keysOfSecret(secret, 'secretRef', context)
  const message = `secret ${nameKey(owner.namespace, name)} not found`
  reportError(context, { path, reason: 'SecretNotFound', message })
  return []
}

interface Selection<T> {
  readonly objects: ObjectIndex<T>
  readonly selector: APIKeySelector
  readonly field: 'secretSelector' | 'configMapSelector'
}

/** By name, in the namespace of the policy. */
function selected<T extends KubeObject>({ objects, selector, field }: Selection<T>, context: FieldContext): T[] {
  const { namespace } = context.scope.owner
  const found = objects.all.filter(
    (object) => namespaceOf(object) === namespace && matchesLabels(selector.matchLabels, object.metadata.labels),
  )
  if (found.length === 0) {
    const kind = field === 'secretSelector' ? 'Secret' : 'ConfigMap'
    const message = `no ${kind} matching selector found in namespace ${namespace}; no API key is valid`
    reportError(context, { path: `${context.path}.${field}`, reason: `${kind}NotFound`, message })
  }
  return sortedBy(found, keyOf)
}

/** An invalid entry is delivered all the same, and the proxy ignores it. */
function keysOfSecret(secret: Secret, field: 'secretRef' | 'secretSelector', context: FieldContext): SecretRef[] {
  return secretEntries(secret).map((entry) => {
    const fault = apiKeyEntry(secretValue(secret, entry) ?? '')
    if (typeof fault === 'string') {
      const message = `secret ${keyOf(secret)} entry ${entry} is ignored: ${fault}`
      reportError(context, { path: `${context.path}.${field}`, reason: 'InvalidKey', message })
    }
    return storedSecret(secret, entry, context)
  })
}

function hashesOf(configMap: ConfigMap, context: FieldContext): ApiKeyHash[] {
  const entries = Object.entries(configMap.data ?? {}).sort(([a], [b]) => compareText(a, b))
  return entries.flatMap(([entry, text]) => {
    const outcome = apiKeyHash(text)
    if ('hash' in outcome) return [outcome.hash]
    const message = `configmap ${keyOf(configMap)} entry ${entry} ${outcome.problem}; the entry is ignored`
    reportError(context, { path: `${context.path}.configMapSelector`, reason: outcome.reason, message })
    return []
  })
}
