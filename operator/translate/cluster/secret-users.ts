// What uses some Secrets of a delivery: its listeners, policies, backends and models, as objects that users know. Pure.
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { SecretUser } from '../../status/left-out-secrets.ts'
import { MODEL_PREFIX } from '../model/names.ts'
import { secretsOfBackend, secretsOfListener, secretsOfPolicy } from './used-secrets.ts'

type UserName = Omit<SecretUser, 'secrets'>

/** `secrets`: `namespace/name`. One entry for each object or listener that uses one of them. */
export function usersOfSecrets(config: RenderedConfig, secrets: readonly string[]): SecretUser[] {
  const wanted = new Set(secrets)
  const found = new Map<string, { readonly user: UserName; readonly secrets: Set<string> }>()
  const note = (user: UserName, keys: readonly string[]): void => {
    for (const key of keys) {
      const secret = secretOf(key)
      if (!wanted.has(secret)) continue
      const id = [user.kind, user.namespace, user.name, user.listener].join('/')
      const known = found.get(id) ?? { user, secrets: new Set() }
      known.secrets.add(secret)
      found.set(id, known)
    }
  }
  for (const listener of config.listeners) {
    const { gatewayNamespace, gatewayName, listenerName, listenerSet } = listener.name
    const owner =
      listenerSet === undefined
        ? { kind: 'Gateway', namespace: gatewayNamespace, name: gatewayName }
        : { kind: 'ListenerSet', ...listenerSet }
    note({ ...owner, listener: listenerName }, secretsOfListener(listener))
  }
  for (const policy of config.policies) note(policy.name, secretsOfPolicy(policy))
  for (const backend of config.backends) note(ownerOf(backend.name), secretsOfBackend(backend))
  return [...found.values()].map((one) => ({ ...one.user, secrets: [...one.secrets].sort() }))
}

/** Backends of models have a prefix in front of the name. */
function ownerOf({ namespace, name }: { readonly namespace: string; readonly name: string }): UserName {
  return name.startsWith(MODEL_PREFIX)
    ? { kind: 'GwModel', namespace, name: name.slice(MODEL_PREFIX.length) }
    : { kind: 'GwBackend', namespace, name }
}

/** `{namespace}/{name}/{data key}` without the last part. */
function secretOf(key: string): string {
  return key.split('/', 2).join('/')
}
