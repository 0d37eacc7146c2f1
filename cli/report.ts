// How problems of files are printed: one line each, as compilers do.
import type { FileProblem } from '#api/source/document.ts'

function formatProblem({ file, line, column, path, message, severity }: FileProblem): string {
  const field = path === '' ? '' : `${path}: `
  return `${file}:${line}:${column}: ${severity === 'warning' ? 'warning: ' : ''}${field}${message}`
}

export function formatProblems(problems: readonly FileProblem[]): string {
  return [...problems].sort(byPlace).map(formatProblem).join('\n')
}

export function hasErrors(problems: readonly FileProblem[]): boolean {
  return problems.some(({ severity }) => severity === 'error')
}

function byPlace(a: FileProblem, b: FileProblem): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column
}
