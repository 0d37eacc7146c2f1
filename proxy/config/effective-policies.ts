// The policies in force for one rule, and where each field comes from: for the admin server. Merging is that of
// requests (proxy/policy); this file only adds which places set a field, and which of them have no effect.
import type { components } from '#api/admin/types.gen.ts'
import type {
  Authorization,
  Backend,
  BackendPayload,
  ObjectName,
  RenderedConfig,
  Route,
  RouteBackend,
  ServiceReference,
} from '#api/ir/types.gen.ts'
import { redactTree } from '#api/credentials/redact-tree.ts'
import { recordOf } from '#api/json.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { BACKEND, FRONTEND, type Merge, TRAFFIC } from '../policy/fields.ts'
import { effectiveBackend, effectiveFrontend, overlaySection } from '../policy/merge-backend.ts'
import { effectiveTraffic } from '../policy/merge.ts'
import {
  backendLevel,
  indexPolicies,
  listenerLevels,
  type ListenerPlace,
  placeOf,
  type PolicyIndex,
  routeLevels,
  serviceLevels,
} from '../policy/policy-index.ts'
import { plainPolicies } from '../trace/effective.ts'
import { commonService, withTrafficDenied } from './pool-traffic.ts'

type Schemas = components['schemas']
type Source = Schemas['PolicySource']
type Fields = Schemas['EffectiveField'][]
type MergeTable = Readonly<Record<string, { readonly merge: Merge }>>

/** Backends of the rule, and providers or targets of each. */
const PARTS_MAX = 100
/** Routes that delegate requests to each other. */
const PARENTS_MAX = 16

/** A place that can set fields. */
interface Layer {
  readonly source: Source
  readonly payload: object
}

/** `key`: of the rule; undefined: the configuration has no such rule. */
export function effectivePolicies(config: RenderedConfig, key: string): Schemas['EffectivePolicies'] | undefined {
  const route = config.routes.find((one) => one.key === key)
  const rule = route && ruleOf(config, route)
  if (rule === undefined || route === undefined) return undefined
  return {
    parents: rule.routes.slice(0, -1).map((parent) => parent.key),
    connection: connectionFields(rule),
    gateway: gatewayFields(rule),
    route: routeFields(rule),
    backends: route.backends.slice(0, PARTS_MAX).map((backend) => backendFields(rule, backend)),
  }
}

/** undefined: no listener leads to the route. */
function ruleOf(config: RenderedConfig, route: Route): Rule | undefined {
  const routes = [...parentsOf(config.routes, route), route]
  const listener = config.listeners.find((one) => one.key === routes[0]?.listenerKey)
  const bind = config.binds.find((one) => one.key === listener?.bindKey)
  if (listener === undefined || bind === undefined) return undefined
  const index = indexPolicies(config.policies)
  return { config, index, place: placeOf({ ...listener, port: bind.port }), route, routes }
}

export interface SourcedRule {
  readonly rule: Authorization
  readonly source: Source | undefined
}

export interface McpRules {
  readonly rules: readonly SourcedRule[]
  /** Set if a policy of the backend cannot be enforced: all requests are rejected. */
  readonly deny: { readonly message: string; readonly sources: Source[] } | undefined
}

/** The rules of `backend.mcp.authorization` for calls of `route` to one of its backends. */
export function mcpRules(config: RenderedConfig, route: Route, backend: RouteBackend): McpRules | undefined {
  const rule = ruleOf(config, route)
  if (rule === undefined) return undefined
  const { merged, layers } = mergedBackend(rule, backend)
  const sourceOf = (own: unknown, field: string): Source[] =>
    layers.flatMap(({ source, payload }) => (recordOf(payload)[field] === own ? [source] : []))
  const { deny, mcpAuthorization } = merged
  return {
    rules: mcpAuthorization.map((one) => ({ rule: one, source: sourceOf(one, 'mcpAuthorization')[0] })),
    deny: deny && { message: `${deny.field}: ${deny.message}`, sources: sourceOf(deny, 'deny') },
  }
}

interface Rule {
  readonly config: RenderedConfig
  readonly index: PolicyIndex
  readonly place: ListenerPlace
  readonly route: Route
  /** With those that delegate to it, outermost first. */
  readonly routes: readonly Route[]
}

/** The first of several that delegate to the same group. */
function parentsOf(all: readonly Route[], route: Route): Route[] {
  const parents: Route[] = []
  let group = route.routeGroupKey
  while (group !== undefined && parents.length < PARENTS_MAX) {
    const parent = all.find(({ backends }) => backends.some(({ ref }) => ref.routeGroup === group))
    if (parent === undefined || parents.includes(parent)) break
    parents.unshift(parent)
    group = parent.routeGroupKey
  }
  return parents
}

/** The reference to another route was selected before. */
function serviceOf({ backends }: Route): ServiceReference | undefined {
  return commonService(backends.filter(({ ref }) => ref.routeGroup === undefined))
}

function connectionFields({ index, place }: Rule): Fields {
  const layers = attachedLayers(index, listenerLevels(place), ({ policy }) => policy.frontend)
  return fieldsOf(effectiveFrontend(index, place), FRONTEND, layers)
}

function gatewayFields({ index, place }: Rule): Fields {
  const layers = attachedLayers(index, listenerLevels(place), ({ policy, phase }) =>
    phase === 'PreRouting' ? policy.traffic : undefined,
  )
  return fieldsOf(effectiveTraffic(index, { ...place, routes: [] }).preRouting, TRAFFIC, layers)
}

function routeFields({ index, place, route, routes }: Rule): Fields {
  const service = serviceOf(route)
  const traffic = (levels: readonly string[]): Layer[] =>
    attachedLayers(index, levels, ({ policy, phase }) => (phase === 'PreRouting' ? undefined : policy.traffic))
  const layers = [
    ...traffic(listenerLevels(place)),
    ...traffic(service === undefined ? [] : serviceLevels(service)),
    ...routes.flatMap(({ key, name, inlinePolicies = {} }) => [
      ...traffic(routeLevels(name)),
      { source: { kind: 'rule', key } as const, payload: inlinePolicies },
    ]),
  ]
  return fieldsOf(effectiveTraffic(index, { ...place, routes, service }).postRouting, TRAFFIC, layers)
}

interface MergedBackend {
  readonly merged: EffectiveBackend
  /** Those that may set a field, least specific first. */
  readonly layers: readonly Layer[]
  /** undefined: a Service. */
  readonly target: Backend | undefined
}

function mergedBackend(rule: Rule, backend: RouteBackend): MergedBackend {
  const { config, index, place, route, routes } = rule
  const { ref, inlinePolicies: refInlinePolicies } = backend
  const target = config.backends.find(({ key }) => key === ref.backend)
  const merged = effectiveBackend(index, { ...place, routes, service: ref.service, backend: target, refInlinePolicies })
  const levels = [
    ...listenerLevels(place),
    ...routes.flatMap(({ name }) => routeLevels(name)),
    ...(ref.service === undefined ? [] : serviceLevels(ref.service)),
    ...(target === undefined ? [] : [backendLevel(target.name, undefined)]),
  ]
  const layers = [
    ...backendLayers(index, levels),
    ...inlineLayer({ kind: 'backend', key: target?.key ?? '' }, target?.inlinePolicies),
    ...inlineLayer({ kind: 'backendRef', key: route.key }, refInlinePolicies),
  ]
  return {
    merged: serviceOf(route) !== undefined ? merged : withTrafficDenied(merged, ref, index),
    layers,
    target,
  }
}

function backendFields(rule: Rule, backend: RouteBackend): Schemas['EffectiveBackend'] {
  const { index } = rule
  const { merged, layers, target } = mergedBackend(rule, backend)
  const sections = target === undefined ? [] : sectionsOf(target).slice(0, PARTS_MAX)
  return {
    name: nameOf(backend),
    fields: fieldsOf(merged, BACKEND, layers),
    sections: target === undefined ? [] : sections.map((one) => sectionFields({ index, merged, layers, target }, one)),
  }
}

interface Section {
  readonly name: string
  readonly inlinePolicies?: BackendPayload | undefined
}

/** Providers of a model backend, or servers of an MCP backend. */
function sectionsOf({ ai, mcp }: Backend): readonly Section[] {
  return ai === undefined ? (mcp?.targets ?? []) : ai.groups.flatMap(({ providers }) => providers)
}

interface SectionInput {
  readonly index: PolicyIndex
  readonly merged: EffectiveBackend
  readonly layers: readonly Layer[]
  readonly target: { readonly key: string; readonly name: ObjectName }
}

function sectionFields({ index, merged, layers, target }: SectionInput, section: Section): Schemas['EffectiveSection'] {
  const { name, inlinePolicies } = section
  const own = overlaySection(index, merged, { backend: target.name, section: name, inlinePolicies })
  const all = [
    ...layers,
    ...backendLayers(index, [backendLevel(target.name, name)]),
    ...inlineLayer({ kind: 'backend', key: `${target.key}/${name}` }, inlinePolicies),
  ]
  return { name, fields: fieldsOf(own, BACKEND, all) }
}

function nameOf({ ref: { service, backend, routeGroup } }: RouteBackend): string {
  if (service !== undefined) return `${service.namespace}/${service.hostname}:${service.port}`
  return backend ?? routeGroup ?? ''
}

function backendLayers(index: PolicyIndex, levels: readonly string[]): Layer[] {
  return attachedLayers(index, levels, ({ policy }) => policy.backend)
}

function inlineLayer(source: Source, payload: object | undefined): Layer[] {
  return payload === undefined ? [] : [{ source, payload }]
}

function attachedLayers(
  index: PolicyIndex,
  levels: readonly string[],
  payloadOf: (policy: RenderedConfig['policies'][number]) => object | undefined,
): Layer[] {
  return levels.flatMap((level) =>
    index.at(level).flatMap((policy) => inlineLayer({ kind: 'policy', key: policy.key }, payloadOf(policy))),
  )
}

/** Merging keeps the values themselves, so a place whose value is part of the result is a source of it. */
function fieldsOf(effective: object, table: MergeTable, layers: readonly Layer[]): Fields {
  const merged = new Map<string, unknown>(Object.entries(effective))
  return Object.entries(plainPolicies(effective)).map(([field, value]) => {
    const setting = layers.flatMap(({ source, payload }) => {
      const own: unknown = new Map<string, unknown>(Object.entries(payload)).get(field)
      return own === undefined ? [] : [{ source, isUsed: isUsed(merged.get(field), own, table[field]?.merge) }]
    })
    return {
      field,
      value: redactTree(value),
      sources: setting.filter((one) => one.isUsed).map(({ source }) => source),
      overridden: setting.filter((one) => !one.isUsed).map(({ source }) => source),
    }
  })
}

/** Merged traffic policies wrap each value with its source. */
function isUsed(merged: unknown, own: unknown, merge: Merge | undefined): boolean {
  if (isSame(merged, own) || (Array.isArray(merged) && merged.some((item) => isSame(item, own)))) return true
  if (merge !== 'parts') return false
  const members = recordOf(merged)
  return Object.entries(recordOf(own)).some(([name, member]) => members[name] === member)
}

function isSame(merged: unknown, own: unknown): boolean {
  return merged === own || recordOf(merged)['value'] === own
}
