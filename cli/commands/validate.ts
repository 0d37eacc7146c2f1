// gw validate
import { formatProblems, hasErrors } from '../report.ts'
import { loadSource } from '../source.ts'

export async function validateCommand({ file }: { readonly file: string }): Promise<number> {
  const source = await loadSource(file)
  if ('problem' in source) {
    console.error(source.problem)
    return 1
  }
  const { problems } = source
  if (problems.length > 0) console.error(formatProblems(problems))
  if (!hasErrors(problems)) {
    console.log(`${file}: valid${problems.length > 0 ? `, ${problems.length} warning(s)` : ''}`)
    return 0
  }
  const count = problems.filter(({ severity }) => severity === 'error').length
  console.error(`${file}: ${count} error(s)`)
  return 1
}
