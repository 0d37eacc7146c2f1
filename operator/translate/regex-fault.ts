// Checks one regular expression of a user, as the proxy compiles it.
import { RE2JS } from 're2js'
import type { FieldPath } from '#api/problem.ts'
import type { RouteFault } from './route-fault.ts'

/** At most one fault. */
export function regexFaultOf(pattern: string | undefined, path: FieldPath): RouteFault[] {
  if (pattern === undefined) return []
  try {
    RE2JS.compile(pattern)
    return []
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return [{ path, reason: 'UnsupportedValue', message: `not a valid RE2 expression: ${detail}` }]
  }
}
