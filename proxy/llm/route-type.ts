// Which type an LLM request has: by path suffix, longest first, `*` last (data-plane supplement section 3.1); and how
// each type is handled.
import type { RouteType } from '#api/ir/types.gen.ts'
import type { Format } from './formats/format.ts'
import { FORMATS } from './formats/table.ts'

/**
 * A format: read, edited and translated. `Forward`: the bytes of the client go to the provider. `Detect`: the same, and
 * copies of them are read. `Refuse`: answered with 501.
 */
export type Handling = Format | 'Forward' | 'Detect' | 'Refuse'

export const HANDLING: { readonly [T in RouteType]: Handling } = {
  ...FORMATS,
  Passthrough: 'Forward',
  Detect: 'Detect',
  Models: 'Refuse',
}

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
