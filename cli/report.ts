// How problems of files are printed: one line each, as compilers do.
import { styleText } from 'node:util'
import { printable } from '#api/printable.ts'
import type { FileProblem } from '#api/source/document.ts'

type Paint = (severity: FileProblem['severity']) => string

function formatProblem({ file, line, column, path, message, severity }: FileProblem, paint: Paint): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`
  const field = path === '' ? '' : `${path}: `
  return `${printable(place)}: ${paint(severity)}: ${printable(`${field}${message}`)}`
}

export function formatProblems(problems: readonly FileProblem[], paint: Paint = (severity) => severity): string {
  return sortedProblems(problems)
    .map((problem) => formatProblem(problem, paint))
    .join('\n')
}

/** To standard error, with coloured levels at a terminal unless NO_COLOR forbids them. */
export function printProblems(problems: readonly FileProblem[]): void {
  if (problems.length === 0) return
  const paint: Paint = (severity) =>
    styleText(severity === 'error' ? 'red' : 'yellow', severity, { stream: process.stderr })
  process.stderr.write(`${formatProblems(problems, paint)}\n`)
}

export function sortedProblems(problems: readonly FileProblem[]): FileProblem[] {
  return [...problems].sort(byPlace)
}

export function hasErrors(problems: readonly FileProblem[]): boolean {
  return problems.some(({ severity }) => severity === 'error')
}

function byPlace(a: FileProblem, b: FileProblem): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column
}
