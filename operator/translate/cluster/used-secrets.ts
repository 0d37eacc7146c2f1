// The secrets of one Gateway: only those with a reference in its configuration. Updated with changed policies and
// secrets: a Gateway may have thousands of both.
import type {
  Backend,
  BackendAuth,
  BackendPayload,
  GuardSettings,
  OAuthClientAuth,
  Policy,
  RenderedSecret,
  SecretRef,
  TrafficPayload,
} from '#api/ir/types.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import type { Listener } from '../gateway/listener.ts'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import { keyCounts } from '../lists.ts'
import { sortedBy } from '../order.ts'
import { same } from '../same.ts'
import { placeOf } from '../sorted.ts'

export interface SecretUsers {
  readonly listeners: readonly Listener[]
  readonly backends: readonly Backend[]
  readonly policies: readonly Policy[]
}

/** With more changed keys the whole list is sorted again. */
const CHANGES_MAX = 64

/**
 * `held`: always as many lists of what the users may refer to; of equal keys the last one counts. The same list if
 * nothing has changed.
 */
export function secretSelector(): (
  users: SecretUsers,
  ...held: readonly (readonly RenderedSecret[])[]
) => RenderedSecret[] {
  const ofListeners = keyCounts(secretsOfListener)
  const ofBackends = keyCounts(secretsOfBackend)
  const ofPolicies = keyCounts(secretsOfPolicy)
  /** Of each kind of users, how many use a key. */
  let used: readonly LayeredMap<number>[] = []
  /** Of each list, by key. */
  let groups: readonly Grouped<RenderedSecret>[] = []
  let list: RenderedSecret[] = []
  return (users, ...held) => {
    const usedBefore = used
    used = [ofListeners(users.listeners), ofBackends(users.backends), ofPolicies(users.policies)]
    const before = held.map((_, place) => groups[place] ?? NOTHING_HELD)
    const now = held.map((secrets, place) => (before[place] ?? NOTHING_HELD).after(secrets))
    groups = now
    const ofHeld = now.flatMap((group, place) => group.changedSince(before[place] ?? NOTHING_HELD))
    const ofUsers = used.flatMap((names, place) => names.since(usedBefore[place] ?? UNUSED).map(([key]) => key))
    const changed = new Set([...ofHeld, ...ofUsers])
    const heldAt = (key: string) => now.findLast((group) => group.at(key).length > 0)?.at(key) ?? []
    const secretAt = (key: string): RenderedSecret | undefined =>
      used.some((names) => names.get(key) !== undefined) ? heldAt(key).at(-1) : undefined
    return (list = withKeys(list, changed, secretAt))
  }
}

const NOTHING_HELD = Grouped.of<RenderedSecret>([], (secret) => [keyOf(secret)])
const UNUSED = LayeredMap.of<number>()

function withKeys(
  list: RenderedSecret[],
  keys: ReadonlySet<string>,
  secretAt: (key: string) => RenderedSecret | undefined,
): RenderedSecret[] {
  const known = (key: string): RenderedSecret | undefined => {
    const found = list[placeOf(list, key, keyOf)]
    return found?.key === key ? found : undefined
  }
  const edits = [...keys].flatMap((key) => {
    const [before, secret] = [known(key), secretAt(key)]
    const now = secret && same(before, secret)
    return before === now ? [] : [{ key, now }]
  })
  if (edits.length === 0) return list
  if (edits.length > CHANGES_MAX) {
    const byKey = new Map(list.map((secret) => [secret.key, secret]))
    for (const { key, now } of edits) {
      if (now === undefined) byKey.delete(key)
      else byKey.set(key, now)
    }
    return sortedBy(byKey.values(), keyOf)
  }
  const copy = list.slice()
  for (const { key, now } of edits) {
    const place = placeOf(copy, key, keyOf)
    copy.splice(place, copy[place]?.key === key ? 1 : 0, ...(now === undefined ? [] : [now]))
  }
  return copy
}

function keyOf({ key }: RenderedSecret): string {
  return key
}

export function secretsOfListener({ tls }: Pick<Listener, 'tls'>): string[] {
  return [tls, ...(tls?.moreCertificates ?? [])].flatMap((pair) => secretNames([pair?.certificate, pair?.privateKey]))
}

export function secretsOfPolicy({ policy }: Policy): string[] {
  return [...secretsOfPayload(policy.backend), ...secretsOfTraffic(policy.traffic)]
}

export function secretsOfBackend({ inlinePolicies, ai }: Backend): string[] {
  const providers = (ai?.groups ?? []).flatMap((group) => group.providers)
  return [inlinePolicies, ...providers.map((provider) => provider.inlinePolicies)].flatMap(secretsOfPayload)
}

function secretsOfPayload({ auth, tls, ai, mcpAuthentication }: BackendPayload = {}): string[] {
  const { request = [], response = [] } = ai?.promptGuard ?? {}
  const ofClient = mcpAuthentication?.mcp?.clientSecret
  const own = secretNames([...secretsOfAuth(auth), tls?.clientCertificate, tls?.clientKey, ofClient])
  return [...own, ...[...request, ...response].flatMap(secretsOfGuard)]
}

function secretsOfGuard({ moderationApi, guardrailsA, guardrailsC }: GuardSettings): string[] {
  return [moderationApi, guardrailsA, guardrailsC].flatMap((guard) => secretsOfPayload(guard?.policies))
}

function secretsOfAuth(auth: BackendAuth = {}): Array<SecretRef | undefined> {
  const { key, cloudA, cloudB, cloudC, crossAppAccess, oauthTokenExchange, credentials = [] } = auth
  const { identityProvider, resourceAuthorizationServer } = crossAppAccess ?? {}
  return [
    key,
    ...Object.values({ ...cloudA?.secretRef, ...cloudB?.secretRef }),
    cloudC?.secretRef,
    ...secretsOfClient(identityProvider?.clientAuth),
    ...secretsOfClient(resourceAuthorizationServer?.clientAuth),
    ...secretsOfClient(oauthTokenExchange?.clientAuth),
    ...credentials.map((one) => one.key),
  ]
}

function secretsOfClient(auth: OAuthClientAuth | undefined): Array<SecretRef | undefined> {
  const { signingKeyRef, certificateRef } = auth?.privateKeyJwt ?? {}
  return [auth?.secretRef, signingKeyRef, certificateRef]
}

function secretNames(refs: ReadonlyArray<SecretRef | undefined>): string[] {
  return refs.flatMap((ref) => ref?.secret ?? [])
}

function secretsOfTraffic({ basicAuthentication, apiKeyAuthentication }: TrafficPayload = {}): string[] {
  return [
    ...(basicAuthentication === undefined ? [] : [basicAuthentication.users]),
    ...(apiKeyAuthentication?.keys ?? []),
  ].map(({ secret }) => secret)
}
