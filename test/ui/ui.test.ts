// The web UI in a real browser: each page, by keyboard and by the rules of axe, in dark and light, on a desk and on a
// phone; a request that was rejected, with the policy that decided. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CASE_MS, flaws, NO_FLAWS, SETUP_MS, startUi, type Ui, violations } from '#test/ui/browser.testing.ts'

const FIRST_VIEW_BYTES_MAX = 300 * 1024
const PAGES = [
  'Overview',
  'Routes',
  'Policies',
  'Backends',
  'Models',
  'MCP servers',
  'Requests',
  'System',
  'Route tester',
  'CEL playground',
  'Chat',
  'MCP playground',
]

let ui: Ui

beforeAll(async () => {
  ui = await startUi()
}, SETUP_MS)

afterAll(() => ui?.stop())

describe('the web UI', () => {
  it.each([
    ['light, on a desk', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
    ['dark, on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
  ] as const)(
    '%s, has pages without violations of the rules for accessibility',
    async (_, options) => {
      const page = await ui.open(options)
      for (const name of PAGES) {
        await page.getByRole('link', { name, exact: true }).click()
        await page.getByRole('heading', { level: 1, name }).waitFor()
        await page.locator('main :is(table, p.soft, p.notice, form)').first().waitFor()
        expect({ [name]: await flaws(page) }).toEqual({ [name]: NO_FLAWS })
      }
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'shows why a request was rejected',
    async () => {
      const page = await ui.open()
      await page.getByRole('link', { name: 'Requests' }).click()
      await page.getByLabel('Only requests').fill('request.path == "/admin"')
      await page.getByRole('button', { name: 'Watch' }).click()
      await page.getByText('Waiting for the next request.').waitFor()
      expect((await fetch(`${ui.gateway.url}/open`)).status).toBe(200)
      expect((await fetch(`${ui.gateway.url}/admin`)).status).toBe(403)
      await page.getByRole('button', { name: /GET .*\/admin → 403/ }).click()
      await page.getByRole('heading', { name: '403: authorization failed' }).waitFor()
      await page.getByText('request.headers["x-role"] == "admin": no such key: x-role').waitFor()
      await page.getByRole('button', { name: /ms Policy$/ }).click()
      await page.getByRole('button', { name: 'diff', exact: true }).click()
      expect(await violations(page)).toEqual([])
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'reports an expression that is not valid, and a proxy that has ended',
    async () => {
      const page = await ui.open()
      await page.getByRole('link', { name: 'Requests' }).click()
      await page.getByLabel('Only requests').fill('request.path ==')
      await page.getByRole('button', { name: 'Watch' }).click()
      await page.getByRole('status').getByText('400').waitFor()
      await page.route('**/config_dump', (route) => route.abort())
      await page.getByText('the admin server cannot be reached; it may have stopped').waitFor()
      expect(ui.problems.splice(0).every((problem) => problem.startsWith('Failed to load resource'))).toBe(true)
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'is used by keyboard alone',
    async () => {
      const page = await ui.open()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      expect(await page.evaluate('document.activeElement.id')).toBe('content')
      await page.getByRole('link', { name: 'Policies' }).focus()
      await page.keyboard.press('Enter')
      const policy = page.getByRole('button', { name: /admin/ })
      await policy.focus()
      await page.keyboard.press('Enter')
      await page.getByText('"authorization"').waitFor()
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'offers no playground that sends requests, unless the gateway allows it',
    async () => {
      const page = await ui.open()
      for (const name of ['Chat', 'MCP playground']) {
        await page.getByRole('link', { name, exact: true }).click()
        await page.getByText('Start the proxy with UI_ACTIONS=true to allow it.').waitFor()
        expect(await page.locator('main form').count()).toBe(0)
      }
      await page.context().close()
    },
    CASE_MS,
  )

  it('is small', () => {
    const files = ['index.html', 'assets/app.js', 'assets/style.css'].map((name) => join(ui.bundle, 'ui', name))
    const packed = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0)
    expect(packed).toBeLessThan(FIRST_VIEW_BYTES_MAX)
    expect(files.every((file) => statSync(file).size > 0)).toBe(true)
  })
})
