// Every command in a code block of a page has a test that runs it, or a reason why not.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandsOf, type PageCommand } from './page-commands.ts'
import { commandsFor, isForDevelopers, NOT_RUN, PAGES_FOR_DEVELOPERS, RUN_BY, runnerOf } from './tested-pages.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = globSync('{README.md,CONTRIBUTING.md,docs/**/*.md}', { cwd: ROOT }).toSorted()

const hasReason = ({ page, command }: PageCommand): boolean =>
  NOT_RUN.some((one) => one.page === page && one.matching.test(command))
const placesOf = (commands: readonly PageCommand[]): string[] =>
  commands.map(({ page, line, command }) => `${page}:${line}: ${command}`)

describe('commands on pages', () => {
  const commands = PAGES.flatMap((page) => commandsOf(page))

  it('are found', () => {
    expect(commands.length).toBeGreaterThan(250)
  })

  it('each have a test that runs it (RUN_BY), or a reason why not (NOT_RUN)', () => {
    const without = commands.filter((one) => runnerOf(one) === undefined && !hasReason(one) && !isForDevelopers(one))
    expect(placesOf(without)).toEqual([])
  })

  it.each(NOT_RUN)('$page: $matching is still there', ({ page, matching }) => {
    expect(commandsOf(page).some(({ command }) => matching.test(command))).toBe(true)
  })

  it.each(PAGES_FOR_DEVELOPERS)('%s has commands for developers', (page) => {
    expect(commandsOf(page).some(isForDevelopers)).toBe(true)
  })

  it.each(Object.entries(RUN_BY))('%s is read by its tests', (page, claims) => {
    for (const { test } of claims) {
      expect([test, existsSync(join(ROOT, test))]).toEqual([test, true])
      const text = readFileSync(join(ROOT, test), 'utf8')
      expect(text).toMatch(/commandsFor\(|deviationFrom\(/)
      expect(commandsFor(test, page)).not.toEqual([])
      // A table of pages in the test, or all pages of the table.
      expect(text.includes(basename(page, '.md')) || text.includes('RUN_BY') || text.includes('QUICKSTART_PAGES')).toBe(
        true,
      )
    }
  })
})

describe('the reader of commands', () => {
  const read = (markdown: string): string[] => commandsOf('x.md', markdown).map(({ command }) => command)

  it.each([
    [
      'a fenced block',
      '```sh\nls -l   # all files\n# a comment\nmake run \\\n  X=1\n```',
      ['ls -l', 'make run \\\n  X=1'],
    ],
    ['a block with outputs', '```console\n$ gw version\n0.1.0\n$ ls\n```', ['gw version', 'ls']],
    [
      'an indented block',
      'Text:\n\n    make run\n\n    A=1 gw run -f x.yaml\n\nEnd',
      ['make run', 'A=1 gw run -f x.yaml'],
    ],
    ['a numbered step', '1. Do:\n\n       kubectl get pods\n\n2. Then\n', ['kubectl get pods']],
    ['a block without a language', '```\ngw explain x\n403 Forbidden\n```', ['gw explain x']],
    ['other languages and messages', '```yaml\nmake: 1\n```\n\n    info request a=b\n\n```\nbackend x: bad\n```', []],
  ])('reads %s', (_, markdown, expected) => {
    expect(read(markdown)).toEqual(expected)
  })

  it('keeps the output below a command', () => {
    const block = '```\ngw explain x\n403 Forbidden\n  route a\n```\n\n```sh\ncurl -s x\n# HTTP/1.1 401\n```'
    expect(commandsOf('x.md', block).map(({ line, output }) => [line, output])).toEqual([
      [2, '403 Forbidden\n  route a'],
      [8, 'HTTP/1.1 401'],
    ])
  })
})
