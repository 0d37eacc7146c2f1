// The playgrounds of the web UI in a real browser. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CASE_MS, SETUP_MS, startUi, type Ui, violations } from '#test/ui/browser.testing.ts'

const THEMES = [
  ['light, on a desk', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
  ['dark, on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
] as const

let ui: Ui

beforeAll(async () => {
  ui = await startUi()
}, SETUP_MS)

afterAll(() => ui?.stop())

describe.each(THEMES)('%s', (_, theme) => {
  it(
    'tests which rule takes a request, by keyboard',
    async () => {
      const page = await ui.open(theme)
      await page.getByRole('link', { name: 'Route tester' }).focus()
      await page.keyboard.press('Enter')
      await page.getByLabel('URL').focus()
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type(`${ui.gateway.url}/admin/users`)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'default/admin' }).waitFor()
      await page.getByRole('cell', { name: 'not true: path exactly /open' }).waitFor()
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
      await page.getByLabel('URL').fill('file:///etc/passwd')
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('400: url: must be an absolute URL').waitFor()
      expect(ui.problems.splice(0).every((problem) => problem.startsWith('Failed to load resource'))).toBe(true)
      await page.context().close()
    },
    CASE_MS,
  )
})
