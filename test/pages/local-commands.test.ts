// Commands of pages about a proxy on this machine that show no output: each succeeds against the quickstart. Requires
// bash, curl and go.
// @module-tag full
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startQuickstart, type Quickstart } from './quickstart.ts'
import { failuresOf, untilFile } from './shell.ts'
import { commandsFor } from './tested-pages.ts'

const TEST = 'test/pages/local-commands.test.ts'
const PAGE_MS = 150_000

const home = mkdtempSync(join(tmpdir(), 'gw-home-'))
let quickstart: Quickstart

beforeAll(async () => {
  quickstart = await startQuickstart({ UI_ACTIONS: 'true' })
}, PAGE_MS)

afterAll(async () => {
  await quickstart.stop()
  rmSync(home, { recursive: true })
})

/** As in a terminal of a user. */
function inTerminal(command: string): string {
  if (command.startsWith('gw ui')) return untilFile(command, quickstart.opened)
  // bash reads the scripts of both; that of zsh calls functions that only zsh has.
  if (command.includes('completion zsh')) return `compdef() { :; }; ${command}`
  return command
}

it.each(['docs/cli.md', 'docs/trace.md', 'docs/ui.md'])('%s', { timeout: PAGE_MS }, async (page) => {
  const commands = commandsFor(TEST, page)
  expect(commands.length).toBeGreaterThan(1)
  const first = {
    command: `export GOCACHE=$(go env GOCACHE) HOME=${home} GW_ADMIN_TOKEN=; mkdir -p ~/.config/fish/completions`,
  }
  const steps = [first, ...commands.map(({ command }) => ({ command: inTerminal(command) }))]
  const results = await quickstart.resultsOf(steps)
  expect(failuresOf(results)).toEqual([])
  const printed = (text: string): string => results.find(({ command }) => command.startsWith(text))?.printed ?? ''
  if (page === 'docs/cli.md') {
    expect(printed('gw proxy config all')).toContain('admin-only')
    expect(printed('go tool pprof')).toContain('flat%')
    expect(readFileSync(join(home, '.config/fish/completions/gw.fish'), 'utf8')).toContain('complete')
  }
  if (page === 'docs/ui.md') {
    expect(readFileSync(quickstart.opened, 'utf8')).toContain('assets/app.js')
    expect(printed('curl')).toContain('"status":404')
  }
  if (page === 'docs/trace.md') {
    const profiles = results.filter(({ command }) => command.startsWith('go tool pprof'))
    expect(profiles).toHaveLength(3)
    for (const profile of profiles) expect(profile.printed).toContain('flat%')
  }
})
