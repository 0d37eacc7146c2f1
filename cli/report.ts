// How problems of files are printed: one line each, as compilers do, and a limited number of each kind.
import { styleText } from 'node:util'
import { printable } from '#api/printable.ts'
import type { FileProblem } from '#api/source/document.ts'

/** Lines of one kind, such as unknown fields: further ones repeat the same mistake. */
const KIND_LINES_MAX = 20
/** Kinds; a file of another program could have a different mistake in each line. */
const KINDS_MAX = 50
/** What makes messages of one kind different: quoted values, numbers, names of objects, paths. */
const VARIABLE_PARTS = /"[^"]*"|\S*[\d/.[\]]\S*/g

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

/**
 * At most `KIND_LINES_MAX` problems of a kind, in order; the last of them has the number of those that are left out.
 * `gw validate -o json` prints all.
 */
export function boundedProblems(problems: readonly FileProblem[]): FileProblem[] {
  const kinds = new Map<string, FileProblem[]>()
  const others: FileProblem[] = []
  for (const problem of sortedProblems(problems)) {
    const kind = kindOf(problem)
    const known = kinds.get(kind)
    if (known !== undefined) known.push(problem)
    else if (kinds.size < KINDS_MAX) kinds.set(kind, [problem])
    else others.push(problem)
  }
  return [
    ...[...kinds.values()].flatMap((all) => withoutRest(all, 'of this kind')),
    ...withoutRest(others, 'of other kinds'),
  ]
}

function kindOf({ severity, message }: FileProblem): string {
  return `${severity} ${withoutCure(message).replaceAll(VARIABLE_PARTS, '…')}`
}

/** What is wrong, without what to do. */
function withoutCure(message: string): string {
  return message.split('; ', 1)[0] ?? message
}

function withoutRest(all: readonly FileProblem[], which: string): readonly FileProblem[] {
  const last = all[KIND_LINES_MAX - 1]
  const more = all.length - KIND_LINES_MAX
  if (last === undefined || more <= 0) return all
  const noun = last.severity === 'error' ? 'error' : 'warning'
  const rest = `${more} more ${noun}${more === 1 ? '' : 's'} ${which} follow${more === 1 ? 's' : ''}`
  const message = `${last.message}; ${rest}, which gw validate -o json prints`
  return [...all.slice(0, KIND_LINES_MAX - 1), { ...last, message }]
}

export function hasErrors(problems: readonly FileProblem[]): boolean {
  return problems.some(({ severity }) => severity === 'error')
}

function byPlace(a: FileProblem, b: FileProblem): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column
}
