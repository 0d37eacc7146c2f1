// How a trace shows merged policies: the values in force, and the policy or route of each field.
import { policyOf } from '../chain/provenance.ts'
import type { TracedListener } from '../exchange/request-trace.ts'

/** The value of each field that is set; where it comes from is left out. */
export function plainPolicies(effective: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(effective)) {
    if (isUnset(value)) continue
    plain[field] = Array.isArray(value) ? value.map(valueOf) : valueOf(value)
  }
  return plain
}

/** Keys of `/config_dump` by field, as far as they are known; undefined: of none. */
export function sourcesOf(effective: object): Record<string, string[]> | undefined {
  const sources: Record<string, string[]> = {}
  for (const [field, value] of Object.entries(effective)) {
    if (isUnset(value)) continue
    const items: readonly unknown[] = Array.isArray(value) && policyOf(value) === undefined ? value : [value]
    const keys = items.map(sourceOf).filter((key) => key !== undefined)
    if (keys.length > 0) sources[field] = [...new Set(keys)]
  }
  return Object.keys(sources).length === 0 ? undefined : sources
}

/** The rule by the names that users gave it. */
export function routeNames({ place }: Pick<TracedListener, 'place'>): { route?: string; rule?: string } {
  const { routeNamespace, routeName, routeRule } = place
  return {
    ...(routeName !== undefined && { route: `${routeNamespace ?? ''}/${routeName}` }),
    ...(routeRule !== undefined && { rule: routeRule }),
  }
}

function isUnset(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}

function sourceOf(item: unknown): string | undefined {
  if (isSourced(item)) return typeof item.source === 'string' ? item.source : undefined
  return policyOf(item)
}

function valueOf(item: unknown): unknown {
  return isSourced(item) ? item.value : item
}

function isSourced(item: unknown): item is { readonly value: unknown; readonly source: unknown } {
  return typeof item === 'object' && item !== null && 'value' in item && 'source' in item
}
