// docs/llm/guards.md as a reader follows it, with the server of the page in place of the provider.
// Requires bash and curl.
// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest'
import { consoleBlocks, deviations, stepsOf } from '#test/console-steps.ts'
import { LocalPage, plainCommands, yamlBlocks } from './local-page.ts'
import { readPage } from './page-commands.ts'
import { deviationFrom } from './tested-pages.ts'

const START_MS = 120_000
const TEST = 'test/pages/guards.test.ts'
const PAGE = 'docs/llm/guards.md'
const steps = consoleBlocks(readPage(PAGE)).flatMap(stepsOf)
let page: LocalPage

beforeAll(async () => {
  const file = yamlBlocks(PAGE).find((text) => text.startsWith('llm:')) ?? ''
  page = await LocalPage.start({ test: TEST, page: PAGE, file, keys: { ANTHROPIC_API_KEY: 'sk' } })
}, START_MS)

afterAll(() => page.stop())

it('docs/llm/guards.md shows what its requests print, and has no other commands', { timeout: START_MS }, async () => {
  expect(deviations(steps, await page.outputs(steps))).toEqual([])
  const shown = steps.map(({ command }) => command)
  expect(deviationFrom(TEST, PAGE, [...shown, ...plainCommands(TEST, PAGE)])).toBeUndefined()
})
