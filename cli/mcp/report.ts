// The results of gw mcp check, and their output. Pure.
import { printable } from '#api/printable.ts'

export type StepName =
  | 'challenge'
  | 'resource metadata'
  | 'authorization server metadata'
  | 'PKCE'
  | 'registration'
  | 'token'
  | 'session'
  | 'tools'

export type Status = 'pass' | 'warning' | 'fail' | 'skipped'

export interface Step {
  readonly step: StepName
  readonly status: Status
  readonly detail: string
  /** What to do. */
  readonly cure?: string
}

export interface Report {
  readonly url: string
  /** No step failed. */
  readonly isUsable: boolean
  readonly steps: readonly Step[]
}

const STATUS_WIDTH = 'warning'.length

/** Texts of servers reach the terminal, so control characters in them are escaped. */
export function reportText({ url, isUsable, steps }: Report): string {
  const lines = steps.flatMap(({ step, status, detail, cure }) => [
    `${status.padEnd(STATUS_WIDTH)}  ${step}: ${printable(detail)}`,
    ...(cure === undefined ? [] : [`${' '.repeat(STATUS_WIDTH)}  -> ${printable(cure)}`]),
  ])
  const failed = steps.filter(({ status }) => status === 'fail').length
  return [...lines, `${printable(url)}: ${isUsable ? 'usable by MCP clients' : `${failed} step(s) failed`}`].join('\n')
}
