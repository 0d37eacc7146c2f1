// Checks regular expressions of matches, so that the status reports an invalid one and the proxy never gets it.
import { RE2JS } from 're2js'
import type { HTTPRouteMatch } from '#api/gateway/httproute.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { RouteFault } from '../route-fault.ts'

export function regexFaults(matches: readonly HTTPRouteMatch[] | undefined, path: FieldPath): RouteFault[] {
  return (matches ?? []).flatMap((match, index) => {
    const at = `${path}[${index}]`
    return [
      ...faultOf(match.path?.type === 'RegularExpression' ? match.path.value : undefined, `${at}.path.value`),
      ...(match.headers ?? []).flatMap(({ type, value }, position) =>
        faultOf(type === 'RegularExpression' ? value : undefined, `${at}.headers[${position}].value`),
      ),
      ...(match.queryParams ?? []).flatMap(({ type, value }, position) =>
        faultOf(type === 'RegularExpression' ? value : undefined, `${at}.queryParams[${position}].value`),
      ),
    ]
  })
}

export function faultOf(pattern: string | undefined, path: FieldPath): RouteFault[] {
  if (pattern === undefined) return []
  try {
    RE2JS.compile(pattern)
    return []
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return [{ path, reason: 'UnsupportedValue', message: `not a valid RE2 expression: ${detail}` }]
  }
}
