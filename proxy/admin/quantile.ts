// Quantiles of a histogram, as histogram_quantile of Prometheus estimates them. Pure.

/**
 * `bounds`: upper bounds; `counts`: of each bucket by itself, and of the values over the last bound. Values over the
 * last bound count as this bound. Without values the result is null.
 */
export function quantileOf(bounds: Float64Array, counts: Float64Array, quantile: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let rest = quantile * total
  for (const [i, bound] of bounds.entries()) {
    const count = counts[i] ?? 0
    if (count > 0 && rest <= count) {
      const lower = bounds[i - 1] ?? 0
      return lower + (bound - lower) * (rest / count)
    }
    rest -= count
  }
  return bounds.at(-1) ?? null
}
