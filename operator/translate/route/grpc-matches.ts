// Translates GRPCRoute matches into the rendered form: a gRPC call is a request for `/{service}/{method}`.
import { RE2JS } from 're2js'
import type { GRPCRouteMatch } from '#api/gateway/grpcroute.gen.ts'
import type { PathMatch, RouteMatch } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { RouteFault } from '../route-fault.ts'
import { firstByName } from './matches.ts'
import { regexFaultOf } from '../regex-fault.ts'

/** One segment of a path: any service, or any method. */
const ANY = '[^/]+'

/** No match at all means every call. */
export function renderGrpcMatches(matches: readonly GRPCRouteMatch[] | undefined): RouteMatch[] {
  if (matches === undefined || matches.length === 0) return [{ path: { pathPrefix: '/' } }]
  return matches.map(({ method, headers }) => ({
    path: renderMethod(method),
    ...(headers !== undefined && headers.length > 0 && { headers: firstByName(headers, (name) => name.toLowerCase()) }),
  }))
}

export function grpcRegexFaults(matches: readonly GRPCRouteMatch[] | undefined, path: FieldPath): RouteFault[] {
  return (matches ?? []).flatMap(({ method, headers }, index) => {
    const at = `${path}[${index}]`
    const isRegex = method?.type === 'RegularExpression'
    return [
      ...regexFaultOf(isRegex ? method.service : undefined, `${at}.method.service`),
      ...regexFaultOf(isRegex ? method.method : undefined, `${at}.method.method`),
      ...(headers ?? []).flatMap(({ type, value }, position) =>
        regexFaultOf(type === 'RegularExpression' ? value : undefined, `${at}.headers[${position}].value`),
      ),
    ]
  })
}

function renderMethod(match: GRPCRouteMatch['method']): PathMatch {
  // An empty text counts as unset, as in Gateway API.
  const service = match?.service || undefined
  const method = match?.method || undefined
  if (service === undefined && method === undefined) return { pathPrefix: '/' }
  if (match?.type === 'RegularExpression') return { regex: `/${group(service)}/${group(method)}` }
  if (service === undefined) return { regex: `/${ANY}/${RE2JS.quote(method ?? '')}` }
  return method === undefined ? { pathPrefix: `/${service}/` } : { exact: `/${service}/${method}` }
}

/** The alternatives of a user's expression must not extend over the slash. */
function group(expression: string | undefined): string {
  return expression === undefined ? ANY : `(?:${expression})`
}
