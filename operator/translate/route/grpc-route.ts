// The rules of one GRPCRoute in rendered form, before listeners are chosen. Does not depend on parents.
import type { GRPCRoute, GRPCRouteRule } from '#api/gateway/grpcroute.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { namespaceOf } from '../object-ref.ts'
import { createdAt } from '../order.ts'
import type { Faults } from '../policy/faults.ts'
import type { ReferenceScope } from '../service/reference.ts'
import type { RouteFault } from '../route-fault.ts'
import { renderFilters } from './filters.ts'
import { grpcRegexFaults, renderGrpcMatches } from './grpc-matches.ts'
import { joinRules, notServed, type RulePart, translateBackendRef } from './http-route.ts'
import { judgedRoute } from './judged-route.ts'
import type { RouteTranslation } from './translation.ts'

export function translateGrpcRoute(written: GRPCRoute, scope: ReferenceScope): RouteTranslation {
  const { route, ...judged } = judgedRoute(written)
  if (judged.faults.length > 0) return notServed(judged)
  const { filterFaults } = judged
  const parts = (route.spec.rules ?? [{}]).map((rule, index) =>
    translateRule(route, { rule, path: `spec.rules[${index}]`, filterFaults }, scope),
  )
  return joinRules(parts, judged.reported)
}

interface PlacedRule {
  readonly rule: GRPCRouteRule
  readonly path: FieldPath
  readonly filterFaults: Faults
}

function translateRule(route: GRPCRoute, { rule, path, filterFaults }: PlacedRule, scope: ReferenceScope): RulePart {
  const from = { group: GATEWAY_GROUP, kind: 'GRPCRoute', namespace: namespaceOf(route) }
  const { filters, faults, unresolved, reported } = renderFilters({
    filters: rule.filters,
    path: `${path}.filters`,
    filterFaults,
    from,
    scope,
  })
  const backends = (rule.backendRefs ?? []).map((ref, index) =>
    translateBackendRef(from, { ref, path: `${path}.backendRefs[${index}]`, filterFaults }, scope),
  )
  const created = createdAt(route)
  return {
    draft: {
      name: {
        kind: 'GRPCRoute',
        namespace: namespaceOf(route),
        name: route.metadata.name,
        ...(rule.name !== undefined && { ruleName: rule.name }),
      },
      ...(created !== undefined && { createdAt: created }),
      hostnames: (route.spec.hostnames ?? []).map((hostname) => hostname.toLowerCase()),
      matches: renderGrpcMatches(rule.matches),
      backends: backends.map(({ backend }) => backend),
      ...(Object.keys(filters).length > 0 && { inlinePolicies: filters }),
    },
    faults: [...grpcRegexFaults(rule.matches, `${path}.matches`), ...faults, ...backends.flatMap((one) => one.faults)],
    unresolved: [...unresolved, ...backends.flatMap((one) => one.unresolved)],
    notProgrammed: [
      ...reported,
      ...backends.flatMap((one) => one.reported),
      ...(rule.sessionPersistence === undefined ? [] : [noPersistence(path)]),
    ],
  }
}

function noPersistence(path: FieldPath): RouteFault {
  return {
    path: `${path}.sessionPersistence`,
    reason: 'NotYetProgrammed',
    message: 'sessionPersistence is not supported by this version of the proxy and has no effect',
  }
}
