// Puts together what one Gateway receives: its listeners and routes, and only the backends, Services, policies and
// secrets that they lead to. Everything is ordered by key.
import { isIdentical } from '#api/incremental/identical.ts'
import type {
  Backend,
  BackendAuth,
  BackendPayload,
  Bind,
  GuardSettings,
  Listener,
  OAuthClientAuth,
  Policy,
  RenderedConfig,
  RenderedSecret,
  RenderedSecrets,
  Route,
  SecretRef,
  Service,
  TCPRoute,
  TrafficPayload,
} from '#api/ir/types.gen.ts'
import type { OurGateway } from '../gateway/gateways.ts'
import type { Listener as OurListener } from '../gateway/listener.ts'
import { sortedBy } from '../order.ts'
import { keptList, sameFields, sameList } from '../same.ts'
import { type Sorted, sorted } from '../sorted.ts'
import type { Reach } from '../reach.ts'
import type { RenderServices } from '../service/rendered-services.ts'
import type { RenderedGateway } from '../translation.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'

export interface GatewayParts {
  readonly ours: OurGateway
  readonly routes: readonly Route[]
  readonly tcpRoutes: readonly TCPRoute[]
  readonly reach: Reach
  readonly backends: ReadonlyMap<string, DeliveredBackend>
  readonly policies: readonly DeliveredPolicy[]
  readonly services: RenderServices
}

/** What policies of every kind have in common here. */
interface DeliveredPolicy {
  readonly secrets: readonly RenderedSecret[]
  readonly perGateway: ReadonlyMap<string, { readonly policies: readonly Policy[] }>
}

/** The last configuration of a Gateway, and its long lists in order. */
interface GatewayLists {
  readonly sorted: {
    readonly routes: Sorted<Route>
    readonly tcpRoutes: Sorted<TCPRoute>
    readonly services: Sorted<Service>
  }
  rendered?: RenderedGateway
}

/** Equal lists, configurations and entries are the same objects as last time. */
export function gatewayRenderer(): (gateways: readonly GatewayParts[]) => Map<string, RenderedGateway> {
  const known = new Map<string, GatewayLists>()
  return (gateways) => {
    const rendered = new Map<string, RenderedGateway>()
    for (const parts of gateways) {
      const { key } = parts.ours
      const lists = known.get(key) ?? emptyLists()
      known.set(key, lists)
      lists.rendered = renderGateway(parts, lists)
      rendered.set(key, lists.rendered)
    }
    for (const key of known.keys()) if (!rendered.has(key)) known.delete(key)
    return rendered
  }
}

function emptyLists(): GatewayLists {
  return {
    sorted: {
      routes: sorted<Route>(keyOf),
      tcpRoutes: sorted<TCPRoute>(keyOf),
      services: sorted(({ hostname }) => hostname),
    },
  }
}

function renderGateway(parts: GatewayParts, lists: GatewayLists): RenderedGateway {
  const { ours, reach } = parts
  const { rendered: before, sorted: order } = lists
  const listeners = ours.listeners.filter(isRendered)
  const reached = [...reach.backends].flatMap((key) => parts.backends.get(key) ?? [])
  const backends = sortedBy(
    reached.flatMap(({ rendered }) => rendered),
    keyOf,
  )
  const atGateway = parts.policies.filter(({ perGateway }) => perGateway.has(ours.key))
  const policies = sortedBy(
    atGateway.flatMap(({ perGateway }) => perGateway.get(ours.key)?.policies ?? []),
    keyOf,
  )
  const { services, workloads } = parts.services(ours, reach.services)
  const old = before?.config
  const config = sameFields<RenderedConfig>(old, {
    version: 2,
    binds: sameItems(old?.binds, bindsOf(listeners, ours.internal.ports)),
    listeners: sameItems(old?.listeners, sortedBy(listeners.map(renderListener), keyOf)),
    routes: order.routes.of(parts.routes),
    tcpRoutes: order.tcpRoutes.of(parts.tcpRoutes),
    backends: sameItems(old?.backends, backends),
    policies: sameItems(old?.policies, policies),
    services: order.services.of(services),
    workloads: old !== undefined && isIdentical(old.workloads, workloads) ? old.workloads : workloads,
  })
  const secrets = sameFields<RenderedSecrets>(before?.secrets, {
    version: 1,
    secrets: sameItems(
      before?.secrets.secrets,
      usedSecrets({ listeners, backends, policies }, [
        ...listeners,
        ...reached,
        ...atGateway,
        ...(ours.clientCertificate === undefined ? [] : [ours.clientCertificate]),
      ]),
    ),
  })
  return sameFields(before, { config, secrets })
}

function sameItems<T extends { readonly key: string }>(before: T[] | undefined, now: readonly T[]): T[] {
  return sameList(keptList(before ?? [], keyOf), now, keyOf).list
}

function keyOf({ key }: { readonly key: string }): string {
  return key
}

function isProgrammed({ notProgrammed }: OurListener): boolean {
  return notProgrammed === undefined
}

/** A TLS listener that cannot do handshakes is delivered all the same, or another one would answer for its name. */
function isRendered(listener: OurListener): boolean {
  return isProgrammed(listener) || (listener.conflict === undefined && listener.tls?.invalid !== undefined)
}

/** The protocol of the port; absent: HTTP. Listeners of one port are of one family. */
const BIND_PROTOCOL: { readonly [P in Listener['protocol']]: Bind['protocol'] } = {
  HTTP: undefined,
  HTTPS: 'TLS',
  TLS: 'TLS',
  TCP: 'TCP',
  HBONE: 'TLS',
}

function bindsOf(listeners: readonly OurListener[], internal: ReadonlySet<number>): Bind[] {
  const byKey = new Map<string, Bind>()
  for (const { bindKey, spec, protocol: listenerProtocol = 'HTTP' } of listeners) {
    if (byKey.has(bindKey)) continue
    const { port } = spec
    const protocol = BIND_PROTOCOL[listenerProtocol]
    byKey.set(bindKey, {
      key: bindKey,
      port,
      ...(protocol !== undefined && { protocol }),
      ...(internal.has(port) && { mode: 'Internal' as const }),
    })
  }
  return [...byKey.values()].sort((a, b) => a.port - b.port)
}

function renderListener({ key, bindKey, gateway, set, spec, protocol = 'HTTP', tls }: OurListener): Listener {
  return {
    key,
    bindKey,
    name: {
      gatewayName: gateway.metadata.name,
      gatewayNamespace: gateway.metadata.namespace ?? '',
      listenerName: spec.name,
      ...(set !== undefined && { listenerSet: { namespace: set.metadata.namespace ?? '', name: set.metadata.name } }),
    },
    ...(spec.hostname !== undefined && spec.hostname !== '' && { hostname: spec.hostname.toLowerCase() }),
    protocol,
    ...(tls !== undefined && { tls }),
  }
}

interface SecretUsers {
  readonly listeners: readonly OurListener[]
  readonly backends: readonly Backend[]
  readonly policies: readonly Policy[]
}

/** Least privilege: only secrets with a reference in the configuration are delivered. */
function usedSecrets(
  users: SecretUsers,
  holders: ReadonlyArray<{ readonly secrets: readonly RenderedSecret[] }>,
): RenderedSecret[] {
  const used = new Set([
    ...users.listeners.flatMap(({ tls }) =>
      [tls, ...(tls?.moreCertificates ?? [])].flatMap((pair) => secretNames([pair?.certificate, pair?.privateKey])),
    ),
    ...users.backends.flatMap(secretsOfBackend),
    ...users.policies.flatMap(({ policy }) => [
      ...secretsOfPayload(policy.backend),
      ...secretsOfTraffic(policy.traffic),
    ]),
  ])
  const byKey = new Map<string, RenderedSecret>()
  for (const { secrets } of holders) {
    for (const secret of secrets) if (used.has(secret.key)) byKey.set(secret.key, secret)
  }
  return sortedBy(byKey.values(), ({ key }) => key)
}

function secretsOfBackend({ inlinePolicies, ai }: Backend): string[] {
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
