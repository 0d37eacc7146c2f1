// The size of a Kubernetes quantity (`100m`, `128Mi`, `1e3`), to compare two of them. The schema checks the form.
import type { Quantity } from '#api/v1alpha1/gwparameters.gen.ts'

const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P', 'E']
const SMALL = ['', 'm', 'u', 'n']
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

const FACTORS: ReadonlyMap<string, number> = new Map([
  ...BINARY.map((suffix, index): [string, number] => [suffix, 1024 ** index]),
  ...DECIMAL.map((suffix, index): [string, number] => [suffix, 1000 ** index]),
  ...SMALL.map((suffix, index): [string, number] => [suffix, 1000 ** -index]),
])

/** NaN for what is no quantity; it compares with nothing. */
export function quantityValue(quantity: Quantity): number {
  const text = String(quantity)
  const suffix = /[A-Za-z]*$/.exec(text)?.[0] ?? ''
  const factor = FACTORS.get(suffix)
  // `1e3` has no suffix but an exponent.
  return factor === undefined || suffix === text ? NaN : Number(text.slice(0, text.length - suffix.length)) * factor
}
