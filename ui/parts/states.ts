// States by which the pages colour figures; the text always has the state as well. Pure.
export type State = 'good' | 'warn' | 'bad'

export function stateOfStatus(status: number | undefined): State | undefined {
  if (status === undefined || status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  return status < 300 ? 'good' : undefined
}
