import { describe, expect, it } from 'vitest'
import type { FileProblem } from '#api/source/document.ts'
import { RunReport } from './run-report.ts'

const PROBLEMS: readonly FileProblem[] = [
  { file: 'b.yaml', line: 0, column: 0, path: '', message: 'nothing to serve', severity: 'error' },
  {
    file: 'a\u001b[2J.yaml',
    line: 3,
    column: 5,
    path: 'routes["\n"]',
    message: 'is odd\nforged: x',
    severity: 'warning',
  },
]

function linesOf(format: 'text' | 'json'): string[] {
  const lines: string[] = []
  const report = new RunReport((line) => lines.push(...line.split('\n')))
  report.format = format
  report.problems(PROBLEMS)
  report.problems([])
  report.error('the port is in use')
  report.warn('cannot watch')
  report.info('serving a.yaml')
  return lines
}

describe('RunReport', () => {
  it('writes text, and escapes names of users', () => {
    expect(linesOf('text')).toEqual([
      String.raw`a\x1b[2J.yaml:3:5: warning: routes["\n"]: is odd\nforged: x`,
      'b.yaml: error: nothing to serve',
      'the port is in use',
      'gw: cannot watch',
      'gw: serving a.yaml',
    ])
  })

  it('writes every line as JSON, with exact values', () => {
    const time = expect.stringMatching(/^\d{4}-.*Z$/)
    const scope = 'gw'
    const [place] = PROBLEMS.slice(1).map(({ file, line, column, path }) => ({ file, line, column, path }))
    expect(linesOf('json').map((line) => JSON.parse(line) as unknown)).toEqual([
      { level: 'warn', time, scope, message: 'is odd\nforged: x', ...place },
      { level: 'error', time, scope, message: 'nothing to serve', file: 'b.yaml' },
      { level: 'error', time, scope, message: 'the port is in use' },
      { level: 'warn', time, scope, message: 'cannot watch' },
      { level: 'info', time, scope, message: 'serving a.yaml' },
    ])
    expect(linesOf('json').join('')).not.toContain('\u001b')
  })
})
