// Every page that shows the output of a command has a test that runs it, or a reason why not.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { commandBlocks } from '#test/console-steps.ts'
import { QUICKSTART_PAGES, TESTS, WITHOUT_TEST } from './tested-pages.ts'

const ROOT = join(import.meta.dirname, '../..')
/** test/conformance/pages.test.ts runs them all. */
const POLICIES = /^docs\/policies\//

const pages = globSync('{README.md,docs/**/*.md}', { cwd: ROOT })
  .filter((page) => commandBlocks(readFileSync(join(ROOT, page), 'utf8')).length > 0)
  .filter((page) => !POLICIES.test(page))
  .toSorted()

it('each page with outputs is listed once', () => {
  expect([...Object.keys(TESTS), ...Object.keys(WITHOUT_TEST)].toSorted()).toEqual(pages)
})

it.each(Object.entries(TESTS))('%s is read by %s', (page, test) => {
  expect(existsSync(join(ROOT, test))).toBe(true)
  if (QUICKSTART_PAGES.some((one) => one === page)) return
  expect(readFileSync(join(ROOT, test), 'utf8')).toContain(basename(page, '.md'))
})
