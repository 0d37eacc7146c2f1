// Commands on pages of docs and in the README: `gw` accepts their words and flags, targets of make exist, and so do the
// files of the repository that they name. Other tests run those whose output a page shows.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '#cli/program.ts'
import { commandsOf as pageCommands } from '#test/pages/page-commands.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES = globSync('{README.md,CONTRIBUTING.md,docs/**/*.md,config/**/*.md}', { cwd: ROOT }).toSorted()

/** Parts of a command line that end its first command. */
const ENDS = new Set(['|', '>', '>>', '<', '&&', '||', '&', ';', '2>', '2>&1', '\\'])
const GW = new Set(['gw', 'bin/gw'])

/** Of a span that names a command without its arguments. */
const INCOMPLETE = /missing required argument|required option|argument missing/
/** Commands that the library adds when it runs. */
const ADDED = new Set(['completion', 'complete', 'help'])

interface Command {
  readonly place: string
  readonly words: readonly string[]
  readonly isSpan?: true
}

/** In blocks of code, and in spans that begin with a program. */
function commandsOf(page: string): Command[] {
  const commands: Command[] = []
  let isBlock = false
  let language = ''
  for (const [index, line] of readFileSync(join(ROOT, page), 'utf8').split('\n').entries()) {
    const place = `${page}:${index + 1}`
    const fence = /^\s*```(\w*)/.exec(line)
    if (fence !== null) {
      isBlock = !isBlock
      language = fence[1] ?? ''
    } else if (isBlock ? ['', 'sh', 'console', 'bash'].includes(language) : line.startsWith('    ')) {
      commands.push(...partsOf(line.trim().replace(/^\$ /, '')).map((words) => ({ place, words })))
    } else {
      for (const [, span = ''] of line.matchAll(/`((?:bin\/)?gw [a-z][^`…]*|make [a-z-]+[^`]*)`/g)) {
        commands.push(...partsOf(span).map((words) => ({ place, words, isSpan: true as const })))
      }
    }
  }
  return commands
}

/** The words of each command of a line, without quotes, variables in front and comments. */
function partsOf(line: string): string[][] {
  const parts: string[][] = [[]]
  for (const [text] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    if (text.startsWith('#')) break
    if (ENDS.has(text)) parts.push([])
    else parts.at(-1)?.push(text.replaceAll(/['"]/g, ''))
  }
  return parts
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))))
    .filter(({ length }) => length > 0)
}

/** Why `gw` rejects the arguments; undefined: it accepts them. Runs nothing. */
function rejection(args: readonly string[]): string | undefined {
  const program = buildProgram(() => undefined)
  const waiting = [program]
  for (let command = waiting.pop(); command !== undefined; command = waiting.pop()) {
    waiting.push(...command.commands)
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    // A group has no action: its call without a command prints its help.
    if (command.commands.length === 0) command.action(() => undefined)
  }
  try {
    program.parse(args, { from: 'user' })
    return undefined
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string } // commander's
    return code?.startsWith('commander.help') === true || code === 'commander.version' ? undefined : message
  }
}

const commands = PAGES.flatMap(commandsOf)
const known = new Set(buildProgram(() => undefined).commands.map((command) => command.name()))

/** Of commands of the test runner: paths, and a part of the names of tests. */
const selections = PAGES.flatMap((page) =>
  pageCommands(page).flatMap(({ line, command }) => {
    const [, given = ''] = /\bvitest run (.*)$/.exec(command) ?? []
    const [paths = '', name = ''] = given.replace(/--\S+/g, '').trim().split(/ *-t /)
    return paths === '' ? [] : paths.split(' ').map((path) => ({ place: `${page}:${line}`, path, name }))
  }),
)

describe('commands of pages', () => {
  it.each(selections)('$place: $path has tests with $name', ({ path, name }) => {
    const files = globSync(`${path}{*.test.ts,**/*.test.ts,}`, { cwd: ROOT }).filter((file) =>
      file.endsWith('.test.ts'),
    )
    expect(files).not.toEqual([])
    // In the text of a test, or a folder or file with its data.
    const [word = ''] = name.split('/').slice(-1)
    const data = files.flatMap((file) => globSync(`${dirname(file)}/**/*${word}*`, { cwd: ROOT }))
    const named = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes(word))
    expect([...data, ...named]).not.toEqual([])
  })

  it('of gw have known words and flags', () => {
    const calls = commands.filter(({ words: [program = '', name = ''] }) => GW.has(program) && /^[a-z]/.test(name))
    expect(calls.length).toBeGreaterThan(60)
    const wrong = calls.flatMap(({ place, words, isSpan }) => {
      const args = words.slice(1)
      // The title of a help: gw run [options].
      if (ADDED.has(args[0] ?? '') || args.some((word) => word.startsWith('['))) return []
      const reason = known.has(args[0] ?? '') ? rejection(args) : 'unknown command'
      const isFine = reason === undefined || (isSpan === true && INCOMPLETE.test(reason))
      return isFine ? [] : [`${place}: ${words.join(' ')}: ${reason}`]
    })
    expect(wrong).toEqual([])
  })

  it('of make have targets', () => {
    const targets = new Set(readFileSync(join(ROOT, 'Makefile'), 'utf8').match(/^[a-z][\w-]*(?=:)/gm))
    const calls = commands.filter(({ words: [program] }) => program === 'make')
    expect(calls.length).toBeGreaterThan(20)
    const wrong = calls.flatMap(({ place, words }) =>
      words
        .slice(1)
        .flatMap((word) => (/^[a-z][\w-]*$/.test(word) && !targets.has(word) ? [`${place}: make ${word}`] : [])),
    )
    expect(wrong).toEqual([])
  })

  it('name files of the repository that exist', () => {
    const paths = commands.flatMap(({ place, words }) =>
      words
        .filter((word) => /^(?:config|test|hack|bench|docs|proxy|operator|api)\/[\w./-]+$/.test(word))
        .map((path) => ({ place, path })),
    )
    expect(paths.length).toBeGreaterThan(20)
    // vitest takes the first part of a name.
    expect(paths.filter(({ path }) => globSync(`${path}*`, { cwd: ROOT }).length === 0)).toEqual([])
  })
})
