// Merges backend and frontend policies of all levels (resources supplement sections 3.5 and 3.6, with the precedence of
// the specification: Gateway < Listener < Route < rule < Backend or Service < inline on the Backend < inline on the
// ref).
import type {
  AIPolicy,
  Authorization,
  BackendPayload,
  FrontendPayload,
  ObjectName,
  Policy,
  ServiceReference,
} from '#api/ir/types.gen.ts'
import type { EffectiveBackendPolicies } from '../backend/handler.ts'
import {
  backendLevel,
  listenerLevels,
  routeLevels,
  serviceLevels,
  type ListenerPlace,
  type PolicyIndex,
} from './index.ts'
import type { RouteLevel } from './merge.ts'
import { rememberPolicy } from './provenance.ts'

export interface BackendPlace extends ListenerPlace {
  /** Delegation chain, parent first; empty for backends that are called outside of a route. */
  readonly routes: readonly RouteLevel[]
  readonly service?: ServiceReference | undefined
  readonly backend?: { readonly name: ObjectName; readonly inlinePolicies?: BackendPayload | undefined } | undefined
  /** Filters of the backendRef that leads here. */
  readonly refInlinePolicies?: BackendPayload | undefined
}

/** A provider of an AI backend or a target of an MCP backend. */
export interface SectionPlace {
  readonly backend: ObjectName
  readonly section: string
  readonly inlinePolicies?: BackendPayload | undefined
}

/** `deny` is the first of all levels: one is enough to refuse. */
export function effectiveBackend(index: PolicyIndex, place: BackendPlace): EffectiveBackendPolicies {
  const { service, backend, refInlinePolicies } = place
  const levels = listenerLevels(place)
  for (const route of place.routes) levels.push(...routeLevels(route.name))
  if (service !== undefined) levels.push(...serviceLevels(service))
  if (backend !== undefined) levels.push(backendLevel(backend.name, undefined))
  let merged: EffectiveBackendPolicies = { mcpAuthorization: [] }
  for (const level of levels) merged = overlayLevel(merged, attached(index.at(level)))
  return overlayLevel(merged, [backend?.inlinePolicies, refInlinePolicies].filter(isSet), 'last')
}

/**
 * Policies of a service that policies call: only what is attached to it or stands on it. Those of routes, listeners and
 * Gateways are about the traffic of clients.
 */
export function effectiveService(
  index: PolicyIndex,
  { service, backend }: Pick<BackendPlace, 'service' | 'backend'>,
): EffectiveBackendPolicies {
  const levels = service === undefined ? [] : serviceLevels(service)
  if (backend !== undefined) levels.push(backendLevel(backend.name, undefined))
  let merged: EffectiveBackendPolicies = { mcpAuthorization: [] }
  for (const level of levels) merged = overlayLevel(merged, attached(index.at(level)))
  return overlayLevel(merged, [backend?.inlinePolicies].filter(isSet))
}

/** Policies of a provider or MCP target over those of its backend: attached to the section, then inline. */
export function overlaySection(
  index: PolicyIndex,
  base: EffectiveBackendPolicies,
  { backend, section, inlinePolicies }: SectionPlace,
): EffectiveBackendPolicies {
  const merged = overlayLevel(base, attached(index.at(backendLevel(backend, section))))
  return overlayLevel(merged, inlinePolicies === undefined ? [] : [inlinePolicies])
}

export type EffectiveFrontend = Readonly<Omit<FrontendPayload, 'networkAuthorization'>> & {
  /** Of all levels; absent when there are none. */
  readonly networkAuthorization?: readonly Authorization[]
}

/** Field by field, the most specific level wins; `deny` of any level stays, and every networkAuthorization. */
export function effectiveFrontend(index: PolicyIndex, place: ListenerPlace): EffectiveFrontend {
  const merged: Omit<FrontendPayload, 'networkAuthorization'> = {}
  const rules: Authorization[] = []
  for (const level of listenerLevels(place)) {
    for (const { policy } of [...index.at(level)].reverse()) {
      if (policy.frontend === undefined) continue
      const { networkAuthorization, ...fields } = policy.frontend
      const deny = merged.deny ?? fields.deny
      Object.assign(merged, fields, deny === undefined ? {} : { deny })
      if (networkAuthorization !== undefined) rules.push(networkAuthorization)
    }
  }
  return rules.length === 0 ? merged : { ...merged, networkAuthorization: rules }
}

function attached(policies: readonly Policy[]): BackendPayload[] {
  return policies.flatMap(({ key, policy: { backend } }) => {
    if (backend === undefined) return []
    rememberPolicy(backend, key)
    return [backend]
  })
}

function isSet<T>(value: T | undefined): value is T {
  return value !== undefined
}

/** `winner`: which of several payloads that set the same field has it; policies of one target: the first. */
function overlayLevel(
  base: EffectiveBackendPolicies,
  payloads: readonly BackendPayload[],
  winner: 'first' | 'last' = 'first',
): EffectiveBackendPolicies {
  let merged = base
  for (const payload of winner === 'first' ? [...payloads].reverse() : payloads) merged = overlay(merged, payload)
  return merged
}

function overlay(base: EffectiveBackendPolicies, payload: BackendPayload): EffectiveBackendPolicies {
  const { mcpAuthorization, ai, deny, ...fields } = payload
  const mergedAi = mergeAi(base.ai, ai)
  const mergedDeny = base.deny ?? deny
  return {
    ...base,
    ...fields,
    ...(mergedAi === undefined ? {} : { ai: mergedAi }),
    ...(mergedDeny === undefined ? {} : { deny: mergedDeny }),
    mcpAuthorization:
      mcpAuthorization === undefined ? base.mcpAuthorization : [...base.mcpAuthorization, mcpAuthorization],
  }
}

/** Each sub-field whole from the most specific level that sets it. */
function mergeAi(base: AIPolicy | undefined, over: AIPolicy | undefined): AIPolicy | undefined {
  if (base === undefined || over === undefined) return over ?? base
  return { ...base, ...over }
}
