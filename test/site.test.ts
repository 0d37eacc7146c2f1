// The documentation as a site: its sidebar has every page once, and its pages link to files that exist. `make docs`
// builds it.
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { copyPages } from '../site/.vitepress/files.ts'
import { GROUPS, pagesOf } from '../site/.vitepress/pages.ts'

const ROOT = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'gw-site-'))
const docs = globSync('docs/**/*.md', { cwd: ROOT })
const names = docs.map((file) => file.slice('docs/'.length, -'.md'.length)).toSorted()

afterAll(() => rmSync(folder, { recursive: true }))

describe('the site', () => {
  it('has each page once in its sidebar', () => {
    const listed = GROUPS.flatMap((group) => pagesOf(group, names))
    expect(listed.toSorted()).toEqual(names)
  })

  it('has the files to which pages link', () => {
    copyPages(ROOT, docs, folder)
    const page = readFileSync(join(folder, 'policies/cors.md'), 'utf8')
    expect(page).toContain('](/files/config/samples/cors.yaml){target="_self"}')
    expect(page).toContain('](/policies/index.md')
    expect(existsSync(join(folder, 'public/files/config/samples/cors.yaml'))).toBe(true)
    expect(readFileSync(join(folder, 'public/files/config/samples/index.html'), 'utf8')).toContain('cors.yaml')
  })

  it('rejects a link to a file that does not exist', () => {
    const root = join(folder, 'root')
    mkdirSync(join(root, 'docs'), { recursive: true })
    writeFileSync(join(root, 'docs/a.md'), '# A\n\n[sample](../config/a.yaml)\n')
    expect(() => copyPages(root, ['docs/a.md'], join(folder, 'pages'))).toThrow(
      'docs/a.md links to config/a.yaml, which does not exist',
    )
  })
})
