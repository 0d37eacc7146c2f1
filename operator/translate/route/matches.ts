// Translates HTTPRoute matches into the rendered form, with header names in lower case. Does not validate.
import type { HTTPRouteMatch } from '#api/gateway/httproute.gen.ts'
import type { PathMatch, RouteMatch, ValueMatch } from '#api/ir/types.gen.ts'

/** No match at all means every path. */
export function renderMatches(matches: readonly HTTPRouteMatch[] | undefined): RouteMatch[] {
  if (matches === undefined || matches.length === 0) return [{ path: { pathPrefix: '/' } }]
  return matches.map(renderMatch)
}

function renderMatch(match: HTTPRouteMatch): RouteMatch {
  const { headers, queryParams, method } = match
  return {
    path: renderPath(match.path),
    ...(method !== undefined && { method }),
    ...(headers !== undefined && headers.length > 0 && { headers: firstByName(headers, (name) => name.toLowerCase()) }),
    ...(queryParams !== undefined && queryParams.length > 0 && { query: firstByName(queryParams, (name) => name) }),
  }
}

function renderPath(path: HTTPRouteMatch['path']): PathMatch {
  const value = path?.value ?? '/'
  const type = path?.type ?? 'PathPrefix'
  if (type === 'PathPrefix') return { pathPrefix: value }
  return type === 'RegularExpression' ? { regex: value } : { exact: value }
}

export interface NamedMatch {
  readonly name: string
  readonly type?: 'Exact' | 'RegularExpression'
  readonly value: string
}

/** Gateway API: of several entries with one name only the first counts. */
export function firstByName(entries: readonly NamedMatch[], normalise: (name: string) => string): ValueMatch[] {
  const byName = new Map<string, ValueMatch>()
  for (const { name, type = 'Exact', value } of entries) {
    const key = normalise(name)
    if (!byName.has(key)) byName.set(key, { name: key, value: type === 'Exact' ? { exact: value } : { regex: value } })
  }
  return [...byName.values()]
}
