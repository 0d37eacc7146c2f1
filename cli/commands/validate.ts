// gw validate
import { printable } from '#api/printable.ts'
import { printError, printLine } from '../output.ts'
import { formatProblems, hasErrors } from '../report.ts'
import { checkSource } from '../source.ts'

/** As problems call it. */
const STDIN = '<stdin>'

export async function validateCommand({ file }: { readonly file: string }): Promise<number> {
  const problems = await checkSource(file)
  if ('problem' in problems) {
    printError(printable(problems.problem))
    return 1
  }
  const name = file === '-' ? STDIN : printable(file)
  if (problems.length > 0) printError(formatProblems(problems))
  if (!hasErrors(problems)) {
    printLine(`${name}: valid${problems.length > 0 ? `, ${problems.length} warning(s)` : ''}`)
    return 0
  }
  const count = problems.filter(({ severity }) => severity === 'error').length
  printError(`${name}: ${count} error(s)`)
  return 1
}
