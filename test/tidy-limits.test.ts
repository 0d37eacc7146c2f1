// docs/limits.md matches the code: compares every row with the constant that it names.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const ROW = /^\| [^|]+ \| (\d+)(?: (\w+))? \| [^|]*\| `([^`]+)` `(?:(\w+)\.)?(\w+)` \|$/
const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  KiB: 1024,
  MiB: 1024 * 1024,
}

const page = readFileSync(join(ROOT, 'docs', 'limits.md'), 'utf8')
const lines = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| limit |'))
const rows = lines.flatMap((line) => {
  const [, digits, unit = '', file = '', holder, name = ''] = ROW.exec(line) ?? []
  if (digits === undefined) return []
  return [{ file, holder, name, value: Number(digits) * (unit === '' ? 1 : (UNITS[unit] ?? Number.NaN)) }]
})

describe('docs/limits.md', () => {
  it('has rows of the same form', () => {
    expect(rows.length).toBeGreaterThan(40)
    expect(rows.length).toBe(lines.length)
  })

  it.each(rows)('$file $name', ({ file, holder, name, value }) => {
    const source = readFileSync(join(ROOT, file), 'utf8')
    expect(constantOf(source, holder, name)).toBe(value)
  })
})

/** The value of `const NAME = 5 * 1000`, or of a member of `const HOLDER = { … }`. */
function constantOf(source: string, holder: string | undefined, name: string): number {
  const written =
    holder === undefined
      ? new RegExp(`const ${name} = ([\\d_ *]+)$`, 'm').exec(source)?.[1]
      : new RegExp(`const ${holder}(?:: \\w+)? = \\{[^}]*?\\b${name}: ([\\d_ *]+)`).exec(source)?.[1]
  if (written === undefined) throw new Error(`no number ${name}`)
  return written
    .replaceAll('_', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1)
}
