// Checks regular expressions of matches, so that the status reports an invalid one and the proxy never gets it.
import type { HTTPRouteMatch } from '#api/gateway/httproute.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import { regexFaultOf } from '../regex-fault.ts'
import type { RouteFault } from '../route-fault.ts'

export function regexFaults(matches: readonly HTTPRouteMatch[] | undefined, path: FieldPath): RouteFault[] {
  return (matches ?? []).flatMap((match, index) => {
    const at = `${path}[${index}]`
    return [
      ...regexFaultOf(match.path?.type === 'RegularExpression' ? match.path.value : undefined, `${at}.path.value`),
      ...(match.headers ?? []).flatMap(({ type, value }, position) =>
        regexFaultOf(type === 'RegularExpression' ? value : undefined, `${at}.headers[${position}].value`),
      ),
      ...(match.queryParams ?? []).flatMap(({ type, value }, position) =>
        regexFaultOf(type === 'RegularExpression' ? value : undefined, `${at}.queryParams[${position}].value`),
      ),
    ]
  })
}
