// Problems of files for programs: JSON with one entry each, and annotations of GitHub.
import { printable } from '#api/printable.ts'
import type { FileProblem } from '#api/source/document.ts'
import { dataText } from './output.ts'
import { sortedProblems } from './report.ts'

export type ProblemFormat = 'text' | 'json' | 'github'

const DEFAULT_REASON = 'Invalid'

/** With a newline at the end; `[]` without problems. */
export function problemsAsJson(problems: readonly FileProblem[]): string {
  const entries = sortedProblems(problems).map(({ file, line, column, path, severity, reason, message }) => ({
    file,
    line,
    column,
    path,
    level: severity,
    reason: reason ?? DEFAULT_REASON,
    message,
    fix: fixOf(message),
  }))
  return dataText(entries, 'json')
}

/** Workflow commands: special characters are percent-encoded, so that no text of a user becomes a command. */
export function problemsForGithub(problems: readonly FileProblem[]): string {
  return sortedProblems(problems)
    .map(({ file, line, column, path, severity, message }) => {
      const place = line === 0 ? [] : [`line=${line}`, `col=${column}`]
      const title = path === '' ? [] : [`title=${property(path)}`]
      return `::${severity} ${[`file=${property(file)}`, ...place, ...title].join(',')}::${data(message)}\n`
    })
    .join('')
}

/** A message says what is wrong, and what to do after its last semicolon. */
function fixOf(message: string): string | null {
  const at = message.lastIndexOf('; ')
  return at < 0 ? null : message.slice(at + 2)
}

function data(text: string): string {
  return printable(text).replaceAll('%', '%25')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
