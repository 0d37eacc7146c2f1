// A backend in the form that Gateways receive. Types only.
import type { Backend, RenderedSecret } from '#api/ir/types.gen.ts'
import type { References } from './references.ts'

/** A backend that is delivered wherever something leads to it. */
export interface DeliveredBackend {
  readonly rendered: readonly Backend[]
  readonly secrets: readonly RenderedSecret[]
  readonly references: References
}
