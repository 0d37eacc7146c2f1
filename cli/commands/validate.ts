// gw validate
import { printable } from '#api/printable.ts'
import { printError, printLine } from '../output.ts'
import { type ProblemFormat, problemsAsJson, problemsForGithub } from '../problem-output.ts'
import { boundedProblems, hasErrors, printProblems } from '../report.ts'
import { checkSources, UNREADABLE } from '../source.ts'

/** The name in problems. */
const STDIN = '<stdin>'

export interface ValidateFlags {
  readonly file?: readonly string[]
  readonly ignoreMissing?: boolean
  readonly output: ProblemFormat
}

export async function validateCommand(paths: readonly string[], flags: ValidateFlags): Promise<number> {
  const all = [...(flags.file ?? []), ...paths]
  if (all.length === 0) {
    printError('pass a file or folder, or - for standard input')
    return 1
  }
  const problems = await checkSources(all, { isMissingIgnored: flags.ignoreMissing === true })
  if (flags.output === 'text')
    printText(all.map((path) => (path === '-' ? STDIN : printable(path))).join(', '), problems)
  else process.stdout.write(flags.output === 'json' ? problemsAsJson(problems) : problemsForGithub(problems))
  return hasErrors(problems) ? 1 : 0
}

function printText(name: string, problems: Parameters<typeof printProblems>[0]): void {
  printProblems(boundedProblems(problems))
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const warnings = problems.length - errors
  const ending = warnings === 0 ? '' : `, ${warnings} warning(s)`
  if (errors === 0) printLine(`${name}: valid${ending}`)
  // A path that cannot be read is reported in one line.
  else if (problems.some(({ reason }) => reason !== UNREADABLE)) printError(`${name}: ${errors} error(s)${ending}`)
}
