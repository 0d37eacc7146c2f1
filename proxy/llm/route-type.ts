// Which LLM format a request speaks: by path suffix, longest first, `*` last (data-plane supplement section 3.1).
import type { RouteType } from '#api/ir/types.gen.ts'

/** Everything is Completions when no routes are configured, and when none of them fits. */
export function routeTypeMatcher(routes: Readonly<Record<string, RouteType>> | undefined): (path: string) => RouteType {
  const suffixes = Object.entries(routes ?? {})
    .filter(([suffix]) => suffix !== '*')
    .sort(([a], [b]) => b.length - a.length)
  const fallback = routes !== undefined && Object.hasOwn(routes, '*') ? (routes['*'] ?? 'Completions') : 'Completions'
  return (path) => {
    for (const [suffix, type] of suffixes) if (path.endsWith(suffix)) return type
    return fallback
  }
}
