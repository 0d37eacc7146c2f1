// The rules of one HTTPRoute in rendered form, before listeners are chosen. Does not depend on parents.
import type { HTTPRoute, HTTPRouteRule } from '#api/gateway/httproute.gen.ts'
import type { RouteBackend, Timeouts, TrafficPayload } from '#api/ir/types.gen.ts'
import { isIdentical } from '#api/incremental/identical.ts'
import { SharedParts } from '#api/incremental/shared-parts.ts'
import type { FieldPath } from '#api/problem.ts'
import { durationMs } from '../duration.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { namespaceOf } from '../object-ref.ts'
import { createdAt } from '../order.ts'
import type { Faults } from '../policy/faults.ts'
import { renderRetry } from '../policy/retry.ts'
import { type ReferenceScope, type ReferenceSource, resolveReference } from '../service/reference.ts'
import type { RouteFault } from '../route-fault.ts'
import { renderFilters } from './filters.ts'
import { judgedRoute, type JudgedRoute, malformed } from './judged-route.ts'
import { renderMatches } from './matches.ts'
import { regexFaults } from './regexes.ts'
import { groupOf, isDelegation, membersOf } from './route-group.ts'
import type { RouteTranslation, RuleDraft } from './translation.ts'

/** What rules of many routes have in common, in rendered form. */
const SHARED = new SharedParts()

const NO_HOSTNAMES: string[] = []

export function translateHttpRoute(written: HTTPRoute, scope: ReferenceScope): RouteTranslation {
  const { route, ...judged } = judgedRoute(written)
  if (judged.faults.length > 0) return notServed(judged)
  const { filterFaults } = judged
  const parts = (route.spec.rules ?? [{}]).map((rule, index) =>
    translateRule(route, { rule, path: `spec.rules[${index}]`, filterFaults }, scope),
  )
  const groups = (route.spec.rules ?? []).flatMap(({ backendRefs = [] }) =>
    backendRefs.filter(isDelegation).map((ref) => groupOf(route, ref)),
  )
  return { ...joinRules(parts, judged.reported), ...(groups.length > 0 && { groups }) }
}

/** What is in it may be anything. */
export function notServed({ faults, reported, filterFaults }: Omit<JudgedRoute<unknown>, 'route'>): RouteTranslation {
  const ofFilters = [...filterFaults.leftOut, ...filterFaults.kept].map((one) => malformed(one))
  return { rules: [], faults: [...faults, ...reported, ...ofFilters], unresolved: [], notProgrammed: [] }
}

/** `reported`: of the route, besides its rules. */
export function joinRules(parts: readonly RulePart[], reported: readonly RouteFault[]): RouteTranslation {
  return {
    rules: parts.map(({ draft }) => draft),
    faults: orNone(parts.flatMap(({ faults }) => faults)),
    unresolved: orNone(parts.flatMap(({ unresolved }) => unresolved)),
    notProgrammed: orNone([...reported, ...parts.flatMap(({ notProgrammed }) => notProgrammed)]),
  }
}

const NONE: readonly never[] = []

/** One empty list for thousands of routes. */
function orNone<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list
}

interface PlacedRule {
  readonly rule: HTTPRouteRule
  readonly path: FieldPath
  readonly filterFaults: Faults
}

export interface RulePart {
  readonly draft: RuleDraft
  readonly faults: readonly RouteFault[]
  readonly unresolved: readonly RouteFault[]
  readonly notProgrammed: readonly RouteFault[]
}

function translateRule(route: HTTPRoute, { rule, path, filterFaults }: PlacedRule, scope: ReferenceScope): RulePart {
  const from = { group: GATEWAY_GROUP, kind: 'HTTPRoute', namespace: namespaceOf(route) }
  const filters = renderFilters({
    filters: rule.filters,
    path: `${path}.filters`,
    filterFaults,
    from,
    scope,
  })
  const backends = (rule.backendRefs ?? []).map((ref, index) => {
    const placed = { ref, path: `${path}.backendRefs[${index}]`, filterFaults }
    return isDelegation(ref) ? translateDelegation(route, placed, scope) : translateBackendRef(from, placed, scope)
  })
  const timeouts = timeoutsOf(rule)
  const retry = renderRetry(rule.retry ?? {})
  const inlinePolicies: TrafficPayload = {
    ...filters.filters,
    ...(timeouts !== undefined && { timeouts }),
    ...(retry !== undefined && { retry }),
  }
  const created = createdAt(route)
  const draft: RuleDraft = {
    name: {
      kind: 'HTTPRoute',
      namespace: namespaceOf(route),
      name: route.metadata.name,
      ...(rule.name !== undefined && { ruleName: rule.name }),
    },
    ...(created !== undefined && { createdAt: created }),
    hostnames: inLowerCase(route.spec.hostnames),
    matches: SHARED.of(renderMatches(rule.matches)),
    backends: backends.map(({ backend }) => backend),
    ...(Object.keys(inlinePolicies).length > 0 && { inlinePolicies: SHARED.of(inlinePolicies) }),
  }
  return {
    draft,
    faults: [
      ...regexFaults(rule.matches, `${path}.matches`),
      ...filters.faults,
      ...backends.flatMap(({ faults }) => faults),
    ],
    unresolved: [...filters.unresolved, ...backends.flatMap(({ unresolved }) => unresolved)],
    notProgrammed: [
      ...filters.reported,
      ...backends.flatMap(({ reported }) => reported),
      ...notProgrammedFields(rule, path),
    ],
  }
}

interface PlacedBackendRef {
  readonly ref: NonNullable<HTTPRouteRule['backendRefs']>[number]
  readonly path: FieldPath
  readonly filterFaults: Faults
}

interface BackendPart {
  readonly backend: RouteBackend
  readonly faults: readonly RouteFault[]
  readonly unresolved: readonly RouteFault[]
  readonly reported: readonly RouteFault[]
}

/** `from`: the route; those of other kinds have the same references. */
export function translateBackendRef(
  from: ReferenceSource,
  { ref, path, filterFaults }: PlacedBackendRef,
  scope: ReferenceScope,
): BackendPart {
  const resolved = resolveReference(ref, from, scope)
  const { filters, faults, unresolved, reported } = renderFilters({
    filters: ref.filters,
    path: `${path}.filters`,
    filterFaults,
    from,
    scope,
  })
  return {
    backend: {
      weight: ref.weight ?? 1,
      ref: resolved.ref,
      ...(Object.keys(filters).length > 0 && { inlinePolicies: filters }),
    },
    faults,
    unresolved: [...(resolved.invalid === undefined ? [] : [{ path, ...resolved.invalid }]), ...unresolved],
    reported,
  }
}

/** A reference to one missing route is invalid. A pattern may match a later route; until then it is empty. */
function translateDelegation(route: HTTPRoute, { ref, path }: PlacedBackendRef, scope: ReferenceScope): BackendPart {
  const group = groupOf(route, ref)
  const { fault } = membersOf(group, scope)
  const isPattern = group.selector === '*' || group.selector.includes('=')
  const invalid = fault === undefined || (isPattern && fault.reason === 'BackendNotFound') ? undefined : fault
  const message = 'filters on a backendRef to an HTTPRoute are ignored; move them to the rule or the child route'
  return {
    backend: {
      weight: ref.weight ?? 1,
      ref: invalid === undefined ? { routeGroup: group.key } : { invalid },
    },
    faults:
      (ref.filters ?? []).length === 0 ? [] : [{ path: `${path}.filters`, reason: 'IncompatibleFilters', message }],
    unresolved: fault === undefined ? [] : [{ path, ...fault }],
    reported: [],
  }
}

/** The list itself where nothing changes, as for most routes. */
function inLowerCase(hostnames: HTTPRoute['spec']['hostnames'] = NO_HOSTNAMES): string[] {
  const lower = hostnames.map((hostname) => hostname.toLowerCase())
  return isIdentical(lower, hostnames) ? hostnames : lower
}

/** Zero means no timeout, as Gateway API defines it. */
function timeoutsOf({ timeouts }: HTTPRouteRule): Timeouts | undefined {
  const requestMs = durationMs(timeouts?.request ?? '0s')
  const backendRequestMs = durationMs(timeouts?.backendRequest ?? '0s')
  if (!requestMs && !backendRequestMs) return undefined
  return { ...(requestMs && { requestMs }), ...(backendRequestMs && { backendRequestMs }) }
}

function notProgrammedFields(rule: HTTPRouteRule, path: FieldPath): RouteFault[] {
  const faults: RouteFault[] = []
  if (rule.retry !== undefined && rule.retry.attempts === undefined) {
    const message = 'retry without attempts has no effect; set the number of retries'
    faults.push({ path: `${path}.retry.attempts`, reason: 'NotYetProgrammed', message })
  }
  const { backendRefs = [] } = rule
  if (backendRefs.length > 0 && backendRefs.every(({ weight }) => weight === 0)) {
    const message = 'every weight is 0, so the proxy answers requests with 500; set a weight for at least one backend'
    faults.push({ path: `${path}.backendRefs`, reason: 'NoWeight', message })
  }
  if (rule.sessionPersistence !== undefined) {
    const message = 'sessionPersistence is not supported by this version of the proxy and has no effect'
    faults.push({ path: `${path}.sessionPersistence`, reason: 'NotYetProgrammed', message })
  }
  return faults
}
