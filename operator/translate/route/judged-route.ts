// What the CRD of this version would reject in an HTTPRoute or GRPCRoute: an older CRD accepted it, or it was not
// validated. Filters are checked one by one (judged-filter.ts); with an invalid match or backendRef the whole route is
// not served, because the valid rest could send requests to wrong backends.
import type { FieldPath, Problem } from '#api/problem.ts'
import { isRecord } from '#api/json.ts'
import { isSound, isWithin, understood, understoodPart } from '#api/validate/understood.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { type Faults, isHarmless, said } from '../policy/faults.ts'
import type { RouteFault } from '../route-fault.ts'

export interface JudgedRoute<R> {
  /** Without what has no effect. */
  readonly route: R
  /** Of filters. */
  readonly filterFaults: Faults
  /** The route cannot be served. */
  readonly faults: readonly RouteFault[]
  /** It is served nevertheless. */
  readonly reported: readonly RouteFault[]
}

interface JudgedKind {
  readonly kind: string
  readonly spec: { readonly rules?: readonly object[] }
}

const FILTERS = /^spec\.rules\[\d+\](?:\.backendRefs\[\d+\])?\.filters\[\d+\](?:[.[]|$)/
/** Fields of a rule without which it is served. */
const OPTIONAL = ['timeouts', 'retry', 'sessionPersistence'] as const
const OF_OPTIONAL = /^spec\.rules\[\d+\]\.(?:timeouts|retry|sessionPersistence)(?:[.[]|$)/
export const NOT_SERVED = 'the route is not served until it is corrected'
const NO_EFFECT = 'it has no effect until it is corrected'
const NONE: Faults = { leftOut: [], kept: [] }

export function judgedRoute<R extends JudgedKind>(route: R): JudgedRoute<R> {
  // Of the fields that rules check, only filters are not checked elsewhere; rules cost more than all other checks.
  if (!hasRuledFilters(route) && isSound(route)) return { route, filterFaults: NONE, faults: [], reported: [] }
  const { leftOut, kept } = understood(route)
  if (leftOut.length + kept.length === 0) return { route, filterFaults: NONE, faults: [], reported: [] }
  const isElsewhere = ({ path }: Problem): boolean => !FILTERS.test(path) && !OF_OPTIONAL.test(path)
  const elsewhere = leftOut.filter(isElsewhere)
  const isOfFilter = ({ path }: Problem): boolean => FILTERS.test(path)
  return {
    route: withoutWrongOptions(route, leftOut),
    filterFaults: { leftOut: leftOut.filter(isOfFilter), kept: kept.filter(isOfFilter) },
    faults: elsewhere.filter((one) => !isHarmless(one)).map((one) => malformed(one, NOT_SERVED)),
    reported: [
      ...elsewhere.filter(isHarmless).map((one) => malformed(one)),
      ...leftOut.filter(({ path }) => OF_OPTIONAL.test(path)).map((one) => malformed(one, NO_EFFECT)),
      ...kept.filter((one) => !isOfFilter(one)).map((one) => malformed(one)),
    ],
  }
}

export function malformed({ path, message }: Problem, effect?: string): RouteFault {
  const text = said(path, message)
  return { path, reason: 'UnsupportedValue', message: effect === undefined ? text : `${text}; ${effect}` }
}

/** For header filters, often the only filters of a route, rules check only that they have their settings. */
function hasRuledFilters({ spec }: JudgedKind): boolean {
  const hasRuled = (holder: unknown): boolean => isRecord(holder) && !listOf(holder['filters']).every(isOfHeaders)
  return (spec.rules ?? []).some(
    (rule) => hasRuled(rule) || (isRecord(rule) && listOf(rule['backendRefs']).some(hasRuled)),
  )
}

function isOfHeaders(filter: unknown): boolean {
  if (!isRecord(filter)) return false
  const { type } = filter
  if (type === 'RequestHeaderModifier') return isRecord(filter['requestHeaderModifier'])
  return type === 'ResponseHeaderModifier' && isRecord(filter['responseHeaderModifier'])
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function withoutWrongOptions<R extends JudgedKind>(route: R, wrong: readonly Problem[]): R {
  const isWrong = (path: FieldPath): boolean => wrong.some((one) => isWithin(one.path, path))
  const rules = route.spec.rules?.map((rule, index) =>
    OPTIONAL.reduce<object>((left, field) => {
      const path = `spec.rules[${index}].${field}`
      return isWrong(path)
        ? withPart(left, field, soundOption(route, { field, value: Reflect.get(rule, field), path }))
        : left
    }, rule),
  )
  return rules === undefined ? route : { ...route, spec: { ...route.spec, rules } }
}

interface Option {
  readonly field: (typeof OPTIONAL)[number]
  readonly value: unknown
  readonly path: FieldPath
}

/** undefined: no part of it is left. */
function soundOption({ kind }: JudgedKind, { field, value, path }: Option): unknown {
  const around = (part: unknown): object => framedRule(kind, { [field]: part })
  return understoodPart(value, { around, at: `spec.rules[0].${field}` }, path).object
}

/** A route that is valid except for its only rule. */
export function framedRule(kind: string, rule: object): object {
  return { apiVersion: `${GATEWAY_GROUP}/v1`, kind, metadata: { name: 'x', namespace: 'x' }, spec: { rules: [rule] } }
}

function withPart(holder: object, field: string, value: unknown): object {
  const others = Object.fromEntries(Object.entries(holder).filter(([name]) => name !== field))
  return value === undefined ? others : { ...others, [field]: value }
}
