// The size of a Kubernetes quantity (`100m`, `128Mi`, `1e3`), to compare two of them.
import type { Quantity } from '#api/v1alpha1/gwparameters.gen.ts'
import { Quantity as ExactQuantity } from '#api/validate/cel/quantity.ts'

const NANOS = 1e9

/** NaN if it is not a quantity; every comparison with NaN is false. */
export function quantityValue(quantity: Quantity): number {
  const exact = ExactQuantity.parse(String(quantity))
  return exact === undefined ? NaN : Number(exact.nanos) / NANOS
}
