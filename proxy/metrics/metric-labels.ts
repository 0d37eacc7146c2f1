// Labels that `frontend.metrics` adds to every metric of a request: evaluated once for each request, at its end.
import type { Exchange } from '../exchange/exchange.ts'
import type { AddedField } from '../log/fields.ts'
import { textOf } from '../cel/evaluate.ts'
import { EXPOSED_FAMILIES } from './families.ts'

export interface MetricLabels {
  /** Name and value in turn; always all names. Must not throw. */
  values(exchange: Exchange): readonly string[]
}

const UNKNOWN = 'unknown'
/** Labels of the metrics themselves: an added label must not replace one. */
const RESERVED: readonly string[] = ['le', 'quantile', ...EXPOSED_FAMILIES.flatMap(({ labels }) => labels)]
const FIRST_BAD = /^(?=\d)/
const BAD = /[^a-zA-Z0-9_]/g

export function metricLabels(fields: readonly AddedField[]): MetricLabels {
  const taken = new Set<string>(RESERVED)
  const compiled: { readonly name: string; readonly value: AddedField['value'] }[] = []
  for (const { name, value } of fields) {
    const own = labelName(name, taken)
    taken.add(own)
    compiled.push({ name: own, value })
  }
  return {
    values(exchange) {
      const labels: string[] = []
      for (const { name, value } of compiled) labels.push(name, textOf(value(exchange)) ?? UNKNOWN)
      return labels
    },
  }
}

/** A valid Prometheus name (letters, digits, underscores, not two of them first) that is not in `taken`. */
function labelName(name: string, taken: ReadonlySet<string>): string {
  let label = name.replaceAll(BAD, '_').replace(FIRST_BAD, '_')
  if (label.startsWith('__')) label = `attribute${label}`
  while (taken.has(label)) label = `attribute_${label}`
  return label
}
