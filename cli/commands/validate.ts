// gw validate
import { formatProblems, hasErrors } from '../report.ts'
import { checkSource } from '../source.ts'

/** As problems call it. */
const STDIN = '<stdin>'

export async function validateCommand({ file }: { readonly file: string }): Promise<number> {
  const problems = await checkSource(file)
  if ('problem' in problems) {
    console.error(problems.problem)
    return 1
  }
  const name = file === '-' ? STDIN : file
  if (problems.length > 0) console.error(formatProblems(problems))
  if (!hasErrors(problems)) {
    console.log(`${name}: valid${problems.length > 0 ? `, ${problems.length} warning(s)` : ''}`)
    return 0
  }
  const count = problems.filter(({ severity }) => severity === 'error').length
  console.error(`${name}: ${count} error(s)`)
  return 1
}
