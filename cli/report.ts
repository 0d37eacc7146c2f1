// How problems of files are printed: one line each, as compilers do.
import { printable } from '#api/printable.ts'
import type { FileProblem } from '#api/source/document.ts'

function formatProblem({ file, line, column, path, message, severity }: FileProblem): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`
  const field = path === '' ? '' : `${path}: `
  return printable(`${place}: ${severity}: ${field}${message}`)
}

export function formatProblems(problems: readonly FileProblem[]): string {
  return sortedProblems(problems).map(formatProblem).join('\n')
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
