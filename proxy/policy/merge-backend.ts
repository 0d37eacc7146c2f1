// Merges backend and frontend policies of all levels (resources supplement sections 3.5 and 3.6, with the precedence of
// the specification: Gateway < Listener < Route < rule < Backend or Service < inline on the Backend < inline on the
// ref).
import type { BackendPayload, ObjectName, Policy } from '#api/ir/types.gen.ts'
import type { CalledPlace } from '../backend/handler.ts'
import type { EffectiveBackend, EffectiveFrontend } from '../chain/effective.ts'
import { BACKEND, FRONTEND, type Merge } from './fields.ts'
import {
  backendLevel,
  listenerLevels,
  routeLevels,
  serviceLevels,
  type ListenerPlace,
  type PolicyIndex,
} from './policy-index.ts'
import type { RouteLevel } from './merge.ts'
import { rememberCredential, rememberPolicy } from '../chain/provenance.ts'

export interface BackendPlace extends ListenerPlace, CalledPlace {
  /** Delegation chain, parent first; empty for backends that are called outside of a route. */
  readonly routes: readonly RouteLevel[]
  /** Filters of the backendRef that leads here. */
  readonly refInlinePolicies?: BackendPayload | undefined
}

/** A provider of an AI backend or a target of an MCP backend. */
export interface SectionPlace {
  readonly backend: ObjectName
  readonly section: string
  readonly inlinePolicies?: BackendPayload | undefined
}

/** `deny` is the first of all levels: one is enough to reject. */
export function effectiveBackend(index: PolicyIndex, place: BackendPlace): EffectiveBackend {
  const { service, backend, refInlinePolicies } = place
  const levels = listenerLevels(place)
  for (const route of place.routes) levels.push(...routeLevels(route.name))
  if (service !== undefined) levels.push(...serviceLevels(service))
  if (backend !== undefined) levels.push(backendLevel(backend.name, undefined))
  let merged: EffectiveBackend = { mcpAuthorization: [] }
  for (const level of levels) merged = overlayLevel(merged, attached(index.at(level)))
  const route = place.routes.at(-1)?.name
  if (refInlinePolicies !== undefined && route !== undefined) rememberCredential(refInlinePolicies, keyOf(route))
  return overlayLevel(merged, [inlineOf(backend), refInlinePolicies].filter(isSet), 'last')
}

/**
 * Policies of a service that policies call: only attached and inline ones. Those of routes, listeners and
 * Gateways are about the traffic of clients.
 */
export function effectiveService(
  index: PolicyIndex,
  { service, backend }: Pick<BackendPlace, 'service' | 'backend'>,
): EffectiveBackend {
  const levels = service === undefined ? [] : serviceLevels(service)
  if (backend !== undefined) levels.push(backendLevel(backend.name, undefined))
  let merged: EffectiveBackend = { mcpAuthorization: [] }
  for (const level of levels) merged = overlayLevel(merged, attached(index.at(level)))
  return overlayLevel(merged, [inlineOf(backend)].filter(isSet))
}

/** Policies of a provider or MCP target over those of its backend: attached to the section, then inline. */
export function overlaySection(
  index: PolicyIndex,
  base: EffectiveBackend,
  { backend, section, inlinePolicies }: SectionPlace,
): EffectiveBackend {
  const merged = overlayLevel(base, attached(index.at(backendLevel(backend, section))))
  if (inlinePolicies !== undefined) rememberCredential(inlinePolicies, `${keyOf(backend)}/${section}`)
  return overlayLevel(merged, inlinePolicies === undefined ? [] : [inlinePolicies])
}

/** Field by field, the most specific level wins; `deny` of any level stays, and every networkAuthorization. */
export function effectiveFrontend(index: PolicyIndex, place: ListenerPlace): EffectiveFrontend {
  let merged: EffectiveFrontend = {}
  for (const level of listenerLevels(place)) {
    for (const { policy } of [...index.at(level)].reverse()) {
      if (policy.frontend !== undefined) merged = overlayFields(merged, policy.frontend, FRONTEND)
    }
  }
  return merged
}

function attached(policies: readonly Policy[]): BackendPayload[] {
  return policies.flatMap(({ key, policy: { backend } }) => {
    if (backend === undefined) return []
    rememberPolicy(backend, key)
    return [backend]
  })
}

function inlineOf(backend: BackendPlace['backend']): BackendPayload | undefined {
  if (backend?.inlinePolicies !== undefined) rememberCredential(backend.inlinePolicies, keyOf(backend.name))
  return backend?.inlinePolicies
}

function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace}/${name}`
}

function isSet<T>(value: T | undefined): value is T {
  return value !== undefined
}

/** `winner`: which of several payloads that set the same field is used; for policies of one target: the first. */
function overlayLevel(
  base: EffectiveBackend,
  payloads: readonly BackendPayload[],
  winner: 'first' | 'last' = 'first',
): EffectiveBackend {
  let merged = base
  for (const payload of winner === 'first' ? [...payloads].reverse() : payloads) merged = overlay(merged, payload)
  return merged
}

function overlay(base: EffectiveBackend, payload: BackendPayload): EffectiveBackend {
  return overlayFields(base, payload, BACKEND)
}

/** The members of a payload over those already in force, as its table defines. */
function overlayFields<E extends object>(
  base: E,
  payload: object,
  table: Readonly<Record<string, { readonly merge: Merge }>>,
): E {
  const merged = new Map<string, unknown>(Object.entries(base))
  for (const [field, value] of Object.entries(payload)) {
    if (value !== undefined) merged.set(field, COMBINE[table[field]?.merge ?? 'whole'](merged.get(field), value))
  }
  // Each value was merged from values of the same field.
  return Object.fromEntries(merged) as E
}

/** `over` is set; `base` may be undefined. */
const COMBINE: { readonly [M in Merge]: (base: unknown, over: unknown) => unknown } = {
  whole: (_, over) => over,
  parts: (base, over) => (base === undefined ? over : Object.assign({}, base, over)),
  all: (base, over) => [...(Array.isArray(base) ? base : []), over],
  any: (base, over) => base ?? over,
}
