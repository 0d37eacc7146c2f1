// @module-tag full
// gw proxy trace in a terminal of tmux (apt-get install tmux): every key, resizing, colours, and how it leaves the
// terminal.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EVENTS } from '#cli/tui/events.testing.ts'
import { freePort } from '#test/ports.ts'
import { ROOT, until } from './gw.ts'

let folder: string
let socket: string
let file: string
let servers = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-terminal-test-'))
  file = join(folder, 'trace.jsonl')
  writeFileSync(file, EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(''))
})

beforeEach(() => {
  socket = join(folder, `tmux-${servers++}`)
})

afterEach(() => tmux('kill-server'))

afterAll(() => rmSync(folder, { recursive: true }))

function tmux(...args: readonly string[]): string {
  return execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
}

/** A shell of 100 columns and 12 rows in the folder of the repository. */
function shell(): void {
  tmux('new-session', '-d', '-x', '100', '-y', '12', '-c', ROOT, 'env PS1=ready: sh')
}

function press(...keys: readonly string[]): void {
  tmux('send-keys', ...keys)
}

function screen(...flags: readonly string[]): string {
  return tmux('capture-pane', '-p', ...flags)
}

async function shows(text: string, ...flags: readonly string[]): Promise<void> {
  await until(
    `the terminal shows ${text}`,
    () => screen(...flags).includes(text),
    () => screen(),
  )
}

async function open(command = 'bin/gw proxy trace'): Promise<void> {
  shell()
  await shows('ready:')
  press(`${command} --file ${file}`, 'Enter')
  await shows('q quit')
  await shows('complete')
}

describe('gw proxy trace in a terminal', () => {
  it('obeys every key, and leaves the terminal as it was', async () => {
    await open()
    await shows('▸8')
    press('Up')
    await shows('▸7')
    press('Home')
    await shows('▸1')
    press('Down')
    await shows('▸2')
    press('d')
    await shows('the first snapshot')
    press('End', 's')
    await shows('# authorization')
    press('f')
    await shows('"request": {')
    press('e', 'Tab')
    await shows('[(event)')
    press('Down')
    await until('the details scroll', () => !screen().includes('│ {'), screen)
    press('Left')
    await shows('[#')
    press('/', 'd', 'e', 'm', 'o')
    await shows('/demo')
    press('Enter')
    await shows('▸3')
    press('PageUp')
    await shows('▸1')
    press('?')
    await shows('search in all events')
    press('?')
    await shows('▸1')
    press('q')
    await until('the shell is back', () => !screen().includes('q quit'), screen)
    press('echo code=$?', 'Enter')
    await shows('code=0')
    expect(screen()).toContain('bin/gw proxy trace')
    expect(tmux('display-message', '-p', '#{cursor_flag}').trim()).toBe('1')
  })

  it('obeys the other keys for the same movements, and repeats a search', async () => {
    await open()
    await shows('▸8')
    press('k')
    await shows('▸7')
    press('j')
    await shows('▸8')
    press('Home')
    await shows('▸1')
    press('PageDown')
    await until('a later event is selected', () => !screen().includes('▸1'), screen)
    press('/', 'd', 'e', 'x', 'BSpace', 'm', 'o')
    await shows('/demo')
    press('Escape')
    await until('the search is cancelled', () => !screen().includes('/demo'), screen)
    press('Home', '/', 'r', 'e', 'q', 'u', 'e', 's', 't', 'Enter')
    await until('the search selects an event', () => !screen().includes('▸1 '), screen)
    const former = screen()
    press('n')
    await until('the next match is selected', () => screen() !== former, screen)
    press('N')
    await until('the previous match is selected', () => screen() === former, screen)
    press('Right')
    await shows('[(event)')
    press('Escape')
    await until('the shell is back', () => !screen().includes('q quit'), screen)
    expect(screen()).toContain('bin/gw proxy trace')
  })

  it('follows the size of the terminal', async () => {
    await open()
    tmux('resize-window', '-x', '60', '-y', '12')
    await until('one pane is shown', () => !screen().includes('│') && screen().includes('▸8'), screen)
    tmux('resize-window', '-x', '30', '-y', '5')
    await shows('The terminal needs')
    tmux('resize-window', '-x', '120', '-y', '30')
    await shows('│')
    await expect.poll(() => screen().trimEnd().split('\n').length).toBe(30)
  })

  it('has colours unless NO_COLOR forbids them, and restores the terminal after a signal', async () => {
    await open()
    expect(screen('-e')).toContain('\u001b[31m')
    press('C-c')
    await until('the shell is back', () => !screen().includes('q quit'), screen)
    press(`NO_COLOR=1 bin/gw proxy trace --file ${file}`, 'Enter')
    await shows('q quit')
    await shows('complete')
    expect(screen('-e')).not.toContain('\u001b[31m')
  })

  it('has no colours with --no-color', async () => {
    await open('bin/gw proxy trace --no-color')
    await shows('complete')
    expect(screen('-e')).not.toContain('\u001b[31m')
  })

  it('returns to the shell with the reason if no trace begins', async () => {
    shell()
    await shows('ready:')
    press(`bin/gw proxy trace --local --admin-addr 127.0.0.1:${await freePort()}; echo code=$?`, 'Enter')
    await shows('code=1')
    expect(screen()).toContain('cannot reach the admin server 127.0.0.1:')
  })

  it.each([['--no-ui'], ['--raw']])('prints with %s', async (flag) => {
    shell()
    await shows('ready:')
    press(`bin/gw proxy trace ${flag} --file ${file}; echo code=$?`, 'Enter')
    await shows('code=0')
    expect(screen()).not.toContain('q quit')
  })
})

describe('gw validate in a terminal', () => {
  const BROKEN = 'test/cli/testdata/misspelt.yaml'

  it('has coloured levels, unless NO_COLOR forbids them', async () => {
    shell()
    await shows('ready:')
    press(`clear; bin/gw validate ${BROKEN} 2>&1`, 'Enter')
    await shows('3 error(s)')
    expect(screen('-e')).toContain('\u001b[31merror')
    press(`clear; NO_COLOR=1 bin/gw validate ${BROKEN}; echo code=$?`, 'Enter')
    await shows('code=1')
    expect(screen('-e')).not.toContain('\u001b[31m')
  })

  it.each(['bin/gw --no-color validate', 'bin/gw validate --no-color'])('has plain levels with %s', async (command) => {
    shell()
    await shows('ready:')
    press(`clear; ${command} ${BROKEN}; echo code=$?`, 'Enter')
    await shows('code=1')
    expect(screen()).toContain('3 error(s)')
    expect(screen('-e')).not.toContain('\u001b[31m')
  })
})
