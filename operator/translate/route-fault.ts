// A fault inside a route: the field, a Gateway API condition reason, and a message with the correction.
import type { FieldPath } from '#api/problem.ts'

export interface RouteFault {
  readonly path: FieldPath
  readonly reason: string
  readonly message: string
}
