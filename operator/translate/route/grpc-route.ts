// The rules of one GRPCRoute in rendered form, before listeners are chosen. Knows nothing of parents.
import type { GRPCRoute, GRPCRouteRule } from '#api/gateway/grpcroute.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { namespaceOf } from '../object-ref.ts'
import { createdAt } from '../order.ts'
import type { ReferenceScope } from '../reference.ts'
import { renderFilters } from './filters.ts'
import { grpcRegexFaults, renderGrpcMatches } from './grpc-matches.ts'
import { joinRules, type RouteTranslation, type RulePart, translateBackendRef } from './http-route.ts'

export function translateGrpcRoute(route: GRPCRoute, scope: ReferenceScope): RouteTranslation {
  const parts = (route.spec.rules ?? [{}]).map((rule, index) =>
    translateRule(route, { rule, path: `spec.rules[${index}]` }, scope),
  )
  return joinRules(parts)
}

interface PlacedRule {
  readonly rule: GRPCRouteRule
  readonly path: FieldPath
}

function translateRule(route: GRPCRoute, { rule, path }: PlacedRule, scope: ReferenceScope): RulePart {
  const from = { group: GATEWAY_GROUP, kind: 'GRPCRoute', namespace: namespaceOf(route) }
  const { filters, faults, unresolved } = renderFilters({
    filters: rule.filters,
    level: 'rule',
    path: `${path}.filters`,
    from,
    scope,
  })
  const backends = (rule.backendRefs ?? []).map((ref, index) =>
    translateBackendRef(from, { ref, path: `${path}.backendRefs[${index}]` }, scope),
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
    notProgrammed:
      rule.sessionPersistence === undefined
        ? []
        : [
            {
              path: `${path}.sessionPersistence`,
              reason: 'NotYetProgrammed',
              message: 'sessionPersistence is not run by this version of the proxy and has no effect',
            },
          ],
  }
}
