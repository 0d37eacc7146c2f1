// Failures before a route is selected, such as a missing key: clients of models get them in the format of their API.
import type { Route } from '#api/ir/types.gen.ts'
import type { TargetResolver } from '../backend/targets.ts'
import type { LazyRoute, RoutePlan } from '../chain/plan.ts'
import { defects } from '../exchange/defects.ts'
import type { FailureBody } from '../exchange/slots.ts'
import type { HttpRequest } from '../message/message.ts'
import type { Router } from '../route/router.ts'
import { LLM } from './parts.ts'
import type { RouteIndex } from './route-index.ts'

/**
 * The format of the route that the request matches. If it matches no route, the path determines the format.
 * `hasModels`: whether a route of the listener leads to models; failures of other listeners are text.
 */
export function listenerFailureBody(router: Router<LazyRoute>, hasModels: () => boolean): FailureBody {
  return (failure, request) => {
    if (!hasModels()) return undefined
    const route = routeOf(request, router)
    const body = route === undefined ? LLM.get().pathFailureBody : planOf(route)?.failureBody
    return body?.(failure, request)
  }
}

/** Also through other routes. `resolver`: for the backends of the routes. */
export function leadsToModels(
  routes: readonly Route[],
  index: RouteIndex,
  resolver: Pick<TargetResolver, 'backend'>,
): boolean {
  const groups = new Set<string>()
  const left = [...routes]
  for (const { backends } of left) {
    for (const { ref } of backends) {
      const target = ref.backend === undefined ? undefined : resolver.backend(ref.backend)
      if (target?.ai !== undefined || target?.models !== undefined) return true
      if (ref.routeGroup === undefined || groups.has(ref.routeGroup)) continue
      groups.add(ref.routeGroup)
      for (const route of index.group(ref.routeGroup)) left.push(route)
    }
  }
  return false
}

function routeOf(request: HttpRequest, router: Router<LazyRoute>): LazyRoute | undefined {
  const matched = router.find(request)
  const delegated = matched?.value.delegate?.(request, matched.matchedPrefix)
  if (delegated === undefined) return matched?.value
  return 'failure' in delegated ? undefined : delegated.value
}

/** undefined: a bug; the failure is text. */
function planOf(route: LazyRoute): RoutePlan | undefined {
  try {
    return route.plan
  } catch (error) {
    defects.report(`route ${route.key}`, error)
    return undefined
  }
}
