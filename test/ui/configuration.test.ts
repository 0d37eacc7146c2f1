// The page Configuration of the web UI in a real browser: problems at their lines, the difference, a saved file that is
// in force, hidden credentials, a file that another program has changed. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { appendFileSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CASE_MS, flaws, NO_FLAWS, SETUP_MS, startUi, THEMES, type Ui } from '#test/ui/browser.testing.ts'

const GIVEN = `gateways:
  default: { port: PORT }
routes:
  - name: open
    matches: [{ path: { exact: /open } }]
    policies:
      directResponse: { status: 200 }
      requestHeaderModifier: { set: { Authorization: secret-of-the-team } }
`

let ui: Ui

beforeAll(async () => {
  ui = await startUi(GIVEN, { UI_EDITS: 'true' })
}, SETUP_MS)

afterAll(() => ui?.stop())

async function opened(theme = {}) {
  const page = await ui.open(theme)
  await page.getByRole('link', { name: 'Configuration' }).press('Enter')
  const text = page.getByRole('textbox', { name: 'Text of' })
  await text.waitFor()
  return {
    page,
    text,
    /** As a user replaces a text. */
    change: async (from: string, to: string) => {
      await text.press('Control+f')
      await page.getByRole('textbox', { name: 'Find' }).fill(from)
      await page.getByRole('textbox', { name: 'Replace' }).fill(to)
      await page.getByRole('button', { name: 'replace all' }).press('Enter')
      await page.keyboard.press('Escape')
    },
  }
}

describe.each(THEMES)('%s', (_, theme) => {
  it(
    'changes the file after a look at the difference, and the proxy serves it',
    async () => {
      const { page, text, change } = await opened(theme)
      expect(await text.innerText()).toContain('Authorization: "<hidden:1>"')
      const status = (await fetch(`${ui.gateway.url}/open`)).status
      await change(`status: ${status}`, 'stats: 201')
      await page.getByRole('list', { name: 'Problems' }).getByText('did you mean status?').waitFor()
      expect(await page.getByRole('button', { name: 'Review changes' }).isDisabled()).toBe(true)
      await page.getByRole('button', { name: 'line 7' }).first().press('Enter')
      expect(await page.evaluate<string>('getSelection().toString()')).toContain('stats: 201')
      expect(await flaws(page)).toEqual(NO_FLAWS)
      await change('stats: 201', `status: ${status + 1}`)
      await page.getByRole('status').getByText('Valid.').waitFor()
      await page.getByRole('button', { name: 'Review changes' }).press('Enter')
      const difference = await page.getByLabel('Difference').textContent()
      expect(difference).toContain(`-       directResponse: { status: ${status} }`)
      expect(difference).toContain(`+       directResponse: { status: ${status + 1} }`)
      expect(await flaws(page)).toEqual(NO_FLAWS)
      await page.getByRole('button', { name: 'Save' }).press('Enter')
      await page.getByRole('status').getByText('Saved, and in force.').waitFor()
      expect((await fetch(`${ui.gateway.url}/open`)).status).toBe(status + 1)
      expect(readFileSync(ui.gateway.file, 'utf8')).toContain('Authorization: secret-of-the-team')
      expect(await page.content()).not.toContain('secret-of-the-team')
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the page Configuration', () => {
  it(
    'does not overwrite the changes of another editor',
    async () => {
      const { page, change } = await opened()
      await change('name: open', 'name: other')
      await page.getByRole('status').getByText('Valid.').waitFor()
      await page.getByRole('button', { name: 'Review changes' }).click()
      appendFileSync(ui.gateway.file, '# by another editor\n')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('status').getByText('the file has changed since you opened it').waitFor()
      expect(readFileSync(ui.gateway.file, 'utf8')).not.toContain('name: other')
      await page.getByRole('button', { name: 'Discard changes, and load again' }).click()
      await page.getByRole('status').getByText('Valid.').waitFor()
      expect(await page.getByRole('textbox', { name: 'Text of' }).innerText()).toContain('# by another editor')
      expect(ui.problems.splice(0)).toEqual([expect.stringContaining('409')])
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'draws only the visible lines of a long file, and loses no key while it checks the text',
    async () => {
      appendFileSync(ui.gateway.file, '# a line\n'.repeat(10_000))
      const { page, text } = await opened()
      await page.getByRole('status').getByText('Valid.').waitFor()
      expect(await page.locator('.cm-line').count()).toBeLessThan(200)
      await text.press('Control+End')
      await page.keyboard.type('# the end of the file')
      await page.keyboard.press('Tab')
      expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Review changes')
      await page.keyboard.press('Enter')
      expect(await page.getByLabel('Difference').innerText()).toMatch(/\+ # the end of the file\s*$/)
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})
