// Changes to a running proxy on the page System of the web UI, in a real browser, and only where a setting allows them.
// Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { afterEach, expect, it } from 'vitest'
import { CASE_MS, SETUP_MS, startUi, type Ui, violations } from '#test/ui/browser.testing.ts'

let ui: Ui | undefined

afterEach(() => ui?.stop())

it(
  'sets the log level and drains the proxy if UI_ACTIONS is true',
  async () => {
    ui = await startUi(undefined, { UI_ACTIONS: 'true' })
    const page = await ui.open({ colorScheme: 'dark' })
    await page.getByRole('link', { name: 'System' }).press('Enter')
    await page.getByLabel('Log level until').selectOption('debug')
    await page.getByRole('button', { name: 'Set log level' }).press('Enter')
    await page.getByRole('status').getByText('current log level is debug').waitFor()
    expect(await (await fetch(`${ui.gateway.admin}/logging`)).text()).toBe('current log level is debug\n')
    await page.getByRole('button', { name: 'Drain and stop' }).press('Enter')
    await page.getByText(/closes all ports, and exits\. It has \d+ open connections/).waitFor()
    expect(await violations(page)).toEqual([])
    expect(ui.problems).toEqual([])
    await page.getByRole('button', { name: 'Cancel' }).press('Enter')
    expect((await fetch(`${ui.gateway.url}/open`)).status).toBe(200)
    await page.getByRole('button', { name: 'Drain and stop' }).press('Enter')
    await page.getByRole('button', { name: 'Stop the proxy' }).press('Enter')
    await page.getByText('the admin server cannot be reached; it may have stopped').waitFor()
    await expect(fetch(`${ui.gateway.url}/open`)).rejects.toThrow('fetch failed')
  },
  SETUP_MS + CASE_MS,
)

it(
  'has no actions otherwise',
  async () => {
    ui = await startUi()
    const page = await ui.open()
    await page.getByRole('link', { name: 'System' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    await page.context().close()
  },
  SETUP_MS + CASE_MS,
)
