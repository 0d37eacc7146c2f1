// Generated files stay readable: a change of one field is a small diff, whose lines a reviewer sees whole.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { generateKinds, readKinds } from './generate.ts'
import { Output } from './output.ts'
import type { SchemaNode } from './schema/node.ts'

const ROOT = join(import.meta.dirname, '..')
const LINE_LENGTH_MAX = 600
/** Tables are printed in lines; only a regular expression is never cut. */
const TABLE_LINE_LENGTH_MAX = 200
const CHANGED_LINES_MAX = 12

describe('generated files', () => {
  it('have no long lines', () => {
    const files = globSync('api/**/*.gen.*', { cwd: ROOT })
    expect(files.length).toBeGreaterThan(40)
    const long = files.flatMap((file) => {
      const longest = Math.max(
        ...readFileSync(join(ROOT, file), 'utf8')
          .split('\n')
          .map((line) => line.length),
      )
      const max = /\.(?:structure|semantics)\.gen\./.test(file) ? TABLE_LINE_LENGTH_MAX : LINE_LENGTH_MAX
      return longest > max ? [`${file}: ${longest}`] : []
    })
    expect(long).toEqual([])
  })

  it('change in few lines when one field comes', { tags: ['full'] }, async () => {
    const before = new Output()
    const after = new Output()
    await generateKinds(readKinds(ROOT).kinds, before)
    const { kinds } = readKinds(ROOT)
    const traffic = kinds.find(({ names }) => names.kind === 'GwPolicy')?.spec.properties?.['traffic']
    const field: SchemaNode = {
      type: 'string',
      maxLength: 9,
      default: 'x',
      description: 'A field for this test. Default: x.',
    }
    Object.assign(traffic?.properties?.['csrf']?.properties ?? {}, { another: field })
    await generateKinds(kinds, after)
    const changes = before.paths().map((path) => {
      const known = new Set(before.text(path)?.split('\n'))
      const fresh =
        after
          .text(path)
          ?.split('\n')
          .filter((line) => !known.has(line)) ?? []
      return [path, fresh.length] as const
    })
    const changed = changes.filter(([, count]) => count > 0)
    expect(changed.map(([path]) => path)).toContain('api/validate/kinds/gwpolicy.structure.gen.ts')
    expect(changed.filter(([, count]) => count > CHANGED_LINES_MAX)).toEqual([])
  })
})
