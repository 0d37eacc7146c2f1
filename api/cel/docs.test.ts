// The user page: every example in its tables compiles, every function has an example, every declaration is accepted.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileCel, STANDARD_ENVIRONMENT } from './compile.ts'
import { compileUserFunctions } from './user-functions.ts'

const page = readFileSync(new URL('../../docs/cel.md', import.meta.url), 'utf8')

/** The code in the last cell of the rows whose table has an `example` column. */
function examples(): string[] {
  const found: string[] = []
  let isExample = false
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) isExample = false
    else if (line.endsWith('example |')) isExample = true
    else if (isExample && !line.startsWith('|---')) found.push(/`([^`]+)` \|$/.exec(line)?.[1] ?? line)
  }
  return found
}

describe('docs/cel.md', () => {
  it('has examples', () => {
    expect(examples().length).toBeGreaterThan(60)
  })

  it.each(examples())('%s compiles', (source) => {
    expect(compileCel(source)).toHaveProperty('expression')
  })

  it('names every function', () => {
    const names = [...STANDARD_ENVIRONMENT.functions.values()].map(({ name }) => name.replace(/^math\./, ''))
    expect(names.filter((name) => !page.includes(name))).toEqual([])
  })

  it('has declarations that are accepted', () => {
    const block = /```\n(# is the caller[\s\S]*?)```/.exec(page)?.[1] ?? 'missing('
    expect(compileUserFunctions(block)).toHaveProperty('environment')
  })
})
