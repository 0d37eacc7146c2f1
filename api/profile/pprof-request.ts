// What callers of `/debug/pprof` may ask for, and the head of the answer; the same for proxy and controller.
interface Range {
  readonly min: number
  readonly max: number
}

export const CPU_SECONDS = { min: 1, max: 300, default: 10 } as const
export const HEAP_SECONDS: Range = { min: 1, max: 300 }
export const FREQUENCY = { min: 1, max: 1000, default: 100 } as const

/** undefined: not there, or out of range, which is answered as if it were not there (data plane supplement, 6.6). */
export function numberIn(query: URLSearchParams, name: string, { min, max }: Range): number | undefined {
  const text = query.get(name) ?? ''
  const value = /^\d{1,6}$/.test(text) ? Number(text) : NaN
  return value >= min && value <= max ? value : undefined
}

export function profileHeaders(file: string): Record<string, string> {
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${file}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
}
