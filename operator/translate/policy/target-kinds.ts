// One policy target of each kind: whether it exists, whether it has the named section, and at which Gateways it counts.
import type { PolicyTarget } from '#api/ir/types.gen.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import { POOLS_ARE_OFF } from '../service/pool-lookup.ts'
import { nameKey } from '../object-ref.ts'
import type { ResolvedTarget, TargetKind, TargetLookup } from './target.ts'

/** `foreign`: the object belongs to another controller, which reports about it. */
export type TargetOutcome = ResolvedTarget | Unattached | 'foreign'

export interface Unattached {
  readonly unattached: string
  /** Of the reference, when it names a part that the object does not have. */
  readonly field?: 'sectionName' | 'port'
}

export interface TargetName {
  readonly kind: TargetKind
  readonly name: string
  readonly sectionName?: string
  readonly port?: number
}

interface Found {
  readonly target: PolicyTarget
  readonly gateways: readonly string[]
}

type Finding = Found | { readonly problem: string; readonly field?: 'sectionName' | 'port' } | 'foreign'

export function resolveTarget(ref: TargetName, namespace: string, lookup: TargetLookup): TargetOutcome {
  const finding = FINDERS[ref.kind](ref, namespace, lookup)
  if (finding === 'foreign') return 'foreign'
  const named = `${ref.kind} ${nameKey(namespace, ref.name)}`
  if ('problem' in finding) {
    const { problem, field } = finding
    return { unattached: `${named} ${problem}`, ...(field !== undefined && { field }) }
  }
  if (finding.gateways.length === 0) return { unattached: `${named} is not attached to any Gateway` }
  const { name, sectionName, port } = ref
  const section = sectionName === undefined ? '' : `/${sectionName}`
  const keySuffix = `${nameKey(namespace, name)}${section}${port === undefined ? '' : `/port=${port}`}`
  return { ...finding, keySuffix, key: `${ref.kind}:${keySuffix}` }
}

type Finder = (ref: TargetName, namespace: string, lookup: TargetLookup) => Finding

const NOT_FOUND = { problem: 'not found' } as const

interface Parts {
  /** Of the parts, in the singular: `rule`. */
  readonly part: string
  readonly names: readonly string[]
}

/** undefined: no part is named, or it exists. */
function missingPart(sectionName: string | undefined, { part, names }: Parts): Finding | undefined {
  if (sectionName === undefined || names.includes(sectionName)) return undefined
  const choice = names.length === 0 ? `it has no ${part} with a name` : `it has ${names.join(', ')}`
  return { problem: `has no ${part} ${JSON.stringify(sectionName)} (${choice})`, field: 'sectionName' }
}

const FINDERS: { readonly [K in TargetKind]: Finder } = {
  Gateway: findGateway,
  ListenerSet: findListenerSet,
  HTTPRoute: (ref, namespace, lookup) => findRoute('HTTPRoute', { ref, namespace, lookup }),
  GRPCRoute: (ref, namespace, lookup) => findRoute('GRPCRoute', { ref, namespace, lookup }),
  Service: findService,
  GwBackend: findBackend,
  InferencePool: findPool,
}

function findGateway({ name, sectionName, port }: TargetName, namespace: string, lookup: TargetLookup): Finding {
  const key = nameKey(namespace, name)
  const ours = lookup.parents.gateways.get(key)
  if (ours === undefined) return lookup.snapshot.Gateway.get(namespace, name) === undefined ? NOT_FOUND : 'foreign'
  const missing = missingPart(sectionName, { part: 'listener', names: ours.listeners.map(({ spec }) => spec.name) })
  if (missing !== undefined) return missing
  if (port !== undefined && !ours.ports.includes(port)) {
    return { problem: `has no listener on port ${port} (it has ${ours.ports.join(', ')})`, field: 'port' }
  }
  const target = { namespace, name, ...(sectionName !== undefined && { listener: sectionName }) }
  return { target: { gateway: { ...target, ...(port !== undefined && { port }) } }, gateways: [key] }
}

function findListenerSet({ name, sectionName }: TargetName, namespace: string, lookup: TargetLookup): Finding {
  const object = lookup.snapshot.ListenerSet.get(namespace, name)
  if (object === undefined) return NOT_FOUND
  const ours = lookup.parents.listenerSets.get(nameKey(namespace, name))
  if (ours === undefined) return parentExists(object.spec.parentRef, namespace, lookup) ? 'foreign' : unattachedSet()
  const listeners = object.spec.listeners.map((one) => one.name)
  const missing = missingPart(sectionName, { part: 'listener', names: listeners })
  if (missing !== undefined) return missing
  return {
    target: { listenerSet: { namespace, name, ...(sectionName !== undefined && { section: sectionName }) } },
    gateways: ours.refusal === undefined ? [ours.parent] : [],
  }
}

function unattachedSet(): Finding {
  return { problem: 'is not attached to any Gateway' }
}

function parentExists(
  parent: { readonly name: string; readonly namespace?: string },
  namespace: string,
  { snapshot }: TargetLookup,
): boolean {
  return snapshot.Gateway.get(parent.namespace ?? namespace, parent.name) !== undefined
}

interface RouteSearch {
  readonly ref: TargetName
  readonly namespace: string
  readonly lookup: TargetLookup
}

function findRoute(kind: 'HTTPRoute' | 'GRPCRoute', { ref, namespace, lookup }: RouteSearch): Finding {
  const { name, sectionName } = ref
  const route = lookup.snapshot[kind].get(namespace, name)
  if (route === undefined) return NOT_FOUND
  const rules: ReadonlyArray<{ readonly name?: string }> = route.spec.rules ?? []
  const names = rules.flatMap((rule) => rule.name ?? [])
  const missing = missingPart(sectionName, { part: 'rule', names })
  if (missing !== undefined) return missing
  return {
    target: { route: { kind, namespace, name, ...(sectionName !== undefined && { ruleName: sectionName }) } },
    gateways: [...(lookup.routeGateways.get(`${kind}/${nameKey(namespace, name)}`) ?? [])],
  }
}

function findService({ name, sectionName }: TargetName, namespace: string, lookup: TargetLookup): Finding {
  const service = lookup.snapshot.Service.get(namespace, name)
  if (service === undefined) return NOT_FOUND
  const port = sectionName === undefined ? undefined : Number(sectionName)
  const numbers = (service.spec?.ports ?? []).map((one) => one.port)
  if (port !== undefined && !numbers.includes(port)) {
    const choice = `it has ${numbers.join(', ')}`
    return { problem: `has no port ${JSON.stringify(sectionName)} (a number; ${choice})`, field: 'sectionName' }
  }
  const hostname = lookup.serviceHostname(namespace, name)
  return {
    target: { service: { hostname, namespace, ...(port !== undefined && { port }) } },
    gateways: lookup.reached.service(hostname, port),
  }
}

function findPool({ name }: TargetName, namespace: string, { pools, reached }: TargetLookup): Finding {
  if (pools === undefined) return { problem: `has no effect: ${POOLS_ARE_OFF}` }
  if (pools.get(namespace, name) === undefined) return NOT_FOUND
  const hostname = pools.hostname(namespace, name)
  return { target: { service: { hostname, namespace } }, gateways: reached.service(hostname) }
}

function findBackend({ name, sectionName }: TargetName, namespace: string, lookup: TargetLookup): Finding {
  const backend = lookup.snapshot.GwBackend.get(namespace, name)
  if (backend === undefined) return NOT_FOUND
  const missing = missingPart(sectionName, { part: 'provider or MCP target', names: sectionsOf(backend) })
  if (missing !== undefined) return missing
  const key = nameKey(namespace, name)
  return {
    target: { backend: { namespace, name, ...(sectionName !== undefined && { section: sectionName }) } },
    gateways: lookup.reached.backend(key),
  }
}

function sectionsOf({ spec: { ai, mcp } }: GwBackend): string[] {
  if (mcp !== undefined) return mcp.targets.map(({ name }) => name)
  if (ai?.groups !== undefined) return ai.groups.flatMap(({ providers }) => providers.map(({ name }) => name))
  return ai?.provider === undefined ? [] : ['backend']
}
