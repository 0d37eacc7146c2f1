// What is wrong inside a route: a place, a Gateway API condition reason, and a text with the cure.
import type { FieldPath } from '#api/problem.ts'

export interface RouteFault {
  readonly path: FieldPath
  readonly reason: string
  readonly message: string
}
