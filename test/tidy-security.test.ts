// docs/security.md names a test for every class of attack, and that test exists.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

describe('docs/security.md', () => {
  const text = readFileSync(join(ROOT, 'docs', 'security.md'), 'utf8')
  const rows = text.split('\n').filter((line) => /^\| .*`[^`]+\.test\.ts`/.test(line))
  const named = rows.flatMap((row) =>
    [...row.matchAll(/`([^`]+\.test\.ts)` \u201c([^\u201d]+)\u201d/g)].map(
      ([, file = '', title = '']) => [file, title] as const,
    ),
  )

  it('names a test for every class', () => {
    expect(rows.length).toBeGreaterThan(20)
    expect(named.length).toBeGreaterThanOrEqual(rows.length)
  })

  it.each(named)('%s has “%s”', (file, title) => {
    expect(existsSync(join(ROOT, file))).toBe(true)
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title)
  })
})
