// Pages whose commands run against the quickstart: each prints what its page shows. Requires bash, curl and jq.
// @module-tag full
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ROOT } from '#test/cli/gw.ts'
import { commandBlocks, deviations, isOutput, stepsOf } from '#test/console-steps.ts'
import { deviationFrom, QUICKSTART_PAGES } from './tested-pages.ts'
import { startQuickstart, type Quickstart } from './quickstart.ts'

const START_MS = 120_000
let quickstart: Quickstart

beforeAll(async () => {
  quickstart = await startQuickstart()
}, START_MS)

afterAll(() => quickstart.stop())

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8')

/** Commands that wait for a request of another client. */
const [, section = ''] = /^## Trace a request of another client\n([\s\S]*?)^##/m.exec(read('docs/trace.md')) ?? []
const waiting = [...section.matchAll(/^ {4}(gw .*)$/gm)].map(([, command = '']) => command)

describe.each(QUICKSTART_PAGES)('%s', (page) => {
  const blocks = commandBlocks(read(page)).map(stepsOf)

  it('has no other commands for this test', () => {
    const commands = [...blocks.flat().map(({ command }) => command), ...(page === 'docs/trace.md' ? waiting : [])]
    expect(deviationFrom('test/pages/quickstart-pages.test.ts', page, commands)).toBeUndefined()
  })

  it.each(blocks.map((steps) => [steps[0]?.command ?? '', steps] as const))(
    '%s',
    { timeout: START_MS },
    async (_, steps) => {
      expect(deviations(steps, await quickstart.outputsOf(steps))).toEqual([])
    },
  )
})

describe('README.md', () => {
  it('shows the line of the log for its request to a model', async () => {
    const [shown = ''] = /^ {4}info request [\s\S]*?(?=\n\n)/m.exec(read('README.md')) ?? []
    await quickstart.outputsOf(
      commandBlocks(read('README.md'))
        .flatMap(stepsOf)
        .filter(({ command }) => command.includes('/resilient/')),
    )
    const line = (): string | undefined =>
      quickstart
        .log()
        .split('\n')
        .find((text) => text.includes('route_rule=resilient'))
    await vi.waitUntil(() => line() !== undefined)
    // Without its time.
    const text = (line() ?? '').slice((line() ?? '').indexOf('\t'))
    expect(isOutput(text, shown)).toBe(true)
  })
})

describe('docs/trace.md', () => {
  it('has commands that wait for a client', () => expect(waiting).toHaveLength(2))

  it.each(waiting)('%s', { timeout: START_MS }, async (command) => {
    const client = 'curl -s -o /dev/null -H "x-tenant: a" http://127.0.0.1:8080/echo'
    const script = `${command} & while kill -0 $! 2>/dev/null; do ${client}; sleep 0.2; done`
    const [output] = await quickstart.outputsOf([{ command: script, output: '' }])
    expect(output).toMatch(/Request Done +request finished status=200/)
  })
})
