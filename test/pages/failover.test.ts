// docs/llm/failover.md as a reader follows it, with the server of the page in place of both providers.
// Requires bash and curl.
// @module-tag full
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '#test/cli/gw.ts'
import { consoleBlocks, deviations, isOutput, stepsOf } from '#test/console-steps.ts'
import { LocalPage, plainCommands, yamlBlocks } from './local-page.ts'
import { readPage } from './page-commands.ts'
import { deviationFrom } from './tested-pages.ts'

const START_MS = 120_000
const TEST = 'test/pages/failover.test.ts'
const PAGE = 'docs/llm/failover.md'
const text = readPage(PAGE)
const [first = '', evicted = ''] = consoleBlocks(text)
let page: LocalPage

beforeAll(async () => {
  const [whole = '', ...parts] = yamlBlocks(PAGE)
  const file = parts.slice(0, 2).reduce((result, part) => result.replace(withoutAddress(part), part.trim()), whole)
  if (file.match(/baseUrl/g)?.length !== 2) throw new Error('the page has no address for both models')
  const keys = { OPENAI_API_KEY: 'sk-a', ANTHROPIC_API_KEY: 'sk-b' }
  page = await LocalPage.start({ test: TEST, page: PAGE, file, keys })
}, START_MS)

afterAll(() => page.stop())

/** The parameters of the whole file that the part replaces. */
function withoutAddress(part: string): string {
  return part.trim().replace(/, baseUrl: .* \}/, ' }')
}

describe('docs/llm/failover.md', () => {
  it('has no other commands', () => {
    const shown = [first, evicted].flatMap(stepsOf).map(({ command }) => command)
    expect(deviationFrom(TEST, PAGE, [...shown, ...plainCommands(TEST, PAGE)])).toBeUndefined()
  })

  it('shows what its requests print, the log, and the eviction', { timeout: START_MS }, async () => {
    expect(deviations(stepsOf(first), await page.outputs(stepsOf(first)))).toEqual([])
    const [, shown = ''] = /```\n(info request[\s\S]*?)```/.exec(text) ?? []
    const log = (): string => page.gateway.stdout
    const line = (): string =>
      log()
        .split('\n')
        .find((one) => one.includes('failed_providers')) ?? ''
    await until('a line of the log with the provider that failed', () => line() !== '', log)
    expect(isOutput(line().slice(line().indexOf('\t')), shown)).toBe(true)
    expect(deviations(stepsOf(evicted), await page.outputs(stepsOf(evicted)))).toEqual([])
  })
})
