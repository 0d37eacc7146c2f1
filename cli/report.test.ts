// How many lines of one kind of problem are printed.
import { describe, expect, it } from 'vitest'
import type { FileProblem } from '#api/source/document.ts'
import { boundedProblems, formatProblems } from './report.ts'

function problems(count: number, messageOf: (index: number) => string, file = 'a.yaml'): FileProblem[] {
  return Array.from({ length: count }, (_, index) => ({
    file,
    line: index + 1,
    column: 1,
    path: `x${index}`,
    message: messageOf(index),
    severity: 'error',
  }))
}

const unknown = (index: number): string => `unknown field "x${index}"; did you mean y${index}?`
const lost = (index: number): string => `Gateway ns/web-${index} is not among these manifests`
const linesOf = (all: readonly FileProblem[]): string[] => formatProblems(boundedProblems(all)).split('\n')

describe('boundedProblems', () => {
  it('keeps 20 of a kind as they are', () => {
    const all = problems(20, unknown)
    expect(boundedProblems(all)).toEqual(all)
  })

  it('gives the number of the others in the last line', () => {
    const lines = linesOf(problems(21, unknown))
    expect([lines.length, lines.at(-1)]).toEqual([
      20,
      'a.yaml:20:1: error: x19: unknown field "x19"; did you mean y19?; 1 more error of this kind follows, which gw validate -o json prints',
    ])
    expect(linesOf(problems(300, unknown)).at(-1)).toContain('; 280 more errors of this kind follow, which')
  })

  it('counts kinds by themselves, over all files', () => {
    const lines = linesOf([...problems(15, unknown), ...problems(15, unknown, 'b.yaml'), ...problems(3, lost)])
    expect(lines.filter((line) => line.includes('unknown field'))).toHaveLength(20)
    expect(lines.filter((line) => line.includes('not among'))).toHaveLength(3)
    expect(lines.filter((line) => line.includes('more'))).toEqual([
      expect.stringMatching(/^b\.yaml:5:1: .*; 10 more errors of this kind follow/),
    ])
  })

  it('counts warnings and errors by themselves', () => {
    const warnings = problems(25, lost).map((problem) => ({ ...problem, severity: 'warning' as const }))
    const lines = linesOf([...warnings, ...problems(20, lost)])
    expect(lines.filter((line) => line.includes('more'))).toEqual([
      expect.stringContaining('5 more warnings of this kind follow'),
    ])
  })

  it('bounds the number of kinds', () => {
    const word = (index: number): string => 'x'.repeat(index + 1)
    const lines = linesOf(problems(1000, word))
    expect([lines.length, lines.at(-1)]).toEqual([70, expect.stringContaining('930 more errors of other kinds follow')])
  })
})
