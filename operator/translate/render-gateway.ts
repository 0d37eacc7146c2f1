// Puts together what one Gateway receives: its listeners and routes, and only the backends, Services, policies and
// secrets that they lead to. Everything is ordered by key.
import type { Backend, BackendPayload, Bind, Listener, Policy, RenderedSecret, Route } from '#api/ir/types.gen.ts'
import type { BackendTranslation } from './backend/backend.ts'
import type { OurGateway } from './gateway/gateways.ts'
import type { Listener as OurListener } from './gateway/listener.ts'
import { sortedBy } from './order.ts'
import type { Reach } from './reach.ts'
import type { Services } from './service/services.ts'
import type { RenderedGateway } from './translation.ts'

export interface GatewayParts {
  readonly ours: OurGateway
  readonly routes: readonly Route[]
  readonly reach: Reach
  readonly backends: ReadonlyMap<string, BackendTranslation>
  readonly policies: readonly DeliveredPolicy[]
  readonly services: Services
}

/** What policies of every kind have in common here. */
interface DeliveredPolicy {
  readonly secrets: readonly RenderedSecret[]
  readonly perGateway: ReadonlyMap<string, { readonly policies: readonly Policy[] }>
}

export function renderGateway(parts: GatewayParts): RenderedGateway {
  const { ours, routes, reach } = parts
  const listeners = ours.listeners.filter(isProgrammed)
  const reached = [...reach.backends].flatMap((key) => parts.backends.get(key) ?? [])
  const backends = sortedBy(
    reached.flatMap(({ rendered }) => rendered),
    ({ key }) => key,
  )
  const atGateway = parts.policies.filter(({ perGateway }) => perGateway.has(ours.key))
  const policies = sortedBy(
    atGateway.flatMap(({ perGateway }) => perGateway.get(ours.key)?.policies ?? []),
    ({ key }) => key,
  )
  const { services, workloads } = parts.services.render(reach.services.keys())
  return {
    config: {
      version: 1,
      binds: bindsOf(listeners, ours.internal.ports),
      listeners: sortedBy(listeners.map(renderListener), ({ key }) => key),
      routes: sortedBy(routes, ({ key }) => key),
      tcpRoutes: [],
      backends,
      policies,
      services,
      workloads,
    },
    secrets: { version: 1, secrets: usedSecrets({ backends, policies }, [...reached, ...atGateway]) },
  }
}

export function isProgrammed({ notProgrammed }: OurListener): boolean {
  return notProgrammed === undefined
}

function bindsOf(listeners: readonly OurListener[], internal: ReadonlySet<number>): Bind[] {
  const byKey = new Map<string, Bind>()
  const bindOf = (key: string, port: number): Bind => ({
    key,
    port,
    ...(internal.has(port) && { mode: 'Internal' as const }),
  })
  for (const { bindKey, spec } of listeners) {
    if (!byKey.has(bindKey)) byKey.set(bindKey, bindOf(bindKey, spec.port))
  }
  return [...byKey.values()].sort((a, b) => a.port - b.port)
}

function renderListener({ key, bindKey, gateway, set, spec, protocol = 'HTTP' }: OurListener): Listener {
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
  }
}

interface SecretUsers {
  readonly backends: readonly Backend[]
  readonly policies: readonly Policy[]
}

/** Least privilege: a secret that nothing delivered refers to stays away. */
function usedSecrets(
  users: SecretUsers,
  holders: ReadonlyArray<{ readonly secrets: readonly RenderedSecret[] }>,
): RenderedSecret[] {
  const used = new Set([
    ...users.backends.flatMap(secretsOfBackend),
    ...users.policies.flatMap(({ policy }) => secretsOfPayload(policy.backend)),
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

function secretsOfPayload(payload: BackendPayload | undefined): string[] {
  const { key, credentials = [] } = payload?.auth ?? {}
  return [...(key === undefined ? [] : [key.secret]), ...credentials.map((one) => one.key.secret)]
}
