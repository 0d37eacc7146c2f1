// The web UI of a proxy with hundreds of routes: tables show their first rows, and the first view loads only its own
// code. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { stringify } from 'yaml'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CASE_MS, flaws, NO_FLAWS, SETUP_MS, startUi, type Ui } from '#test/ui/browser.testing.ts'

const ROUTES = 450

let ui: Ui

beforeAll(async () => {
  const routes = Array.from({ length: ROUTES }, (_, index) => ({
    name: `route-${index}`,
    matches: [{ path: { exact: `/${index}` } }],
    backends: [{ host: `127.0.0.1:${10_000 + index}` }],
  }))
  ui = await startUi(`gateways: { default: { port: PORT } }\n${stringify({ routes })}`)
}, SETUP_MS)

afterAll(() => ui?.stop())

it(
  'shows the first rows of a table, more of them when the user asks, and finds all others',
  async () => {
    const page = await ui.open()
    await page.getByRole('link', { name: 'Routes' }).press('Enter')
    const rows = page.getByRole('region', { name: 'Routes' }).locator('tbody tr')
    await page.getByText(`The first 200 of ${ROUTES}.`).waitFor()
    expect(await rows.count()).toBe(200)
    expect(await flaws(page)).toEqual(NO_FLAWS)
    await page.getByRole('button', { name: 'Show 200 more' }).press('Enter')
    await page.getByText(`The first 400 of ${ROUTES}.`).waitFor()
    await page.getByRole('button', { name: 'Show 50 more' }).press('Enter')
    await page.getByText('The first').waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(ROUTES)
    await page.getByLabel('Name, host, path or backend').fill(`route-${ROUTES - 1}`)
    await rows.nth(1).waitFor({ state: 'detached' })
    expect(await rows.innerText()).toContain(`/${ROUTES - 1}`)
    expect(ui.problems).toEqual([])
    await page.context().close()
  },
  CASE_MS,
)

it(
  'loads the code of single pages with these pages',
  async () => {
    const page = await ui.open()
    await page.getByRole('heading', { name: 'Traffic', exact: true }).waitFor()
    const loaded = await page.evaluate<string[]>('performance.getEntriesByType("resource").map(({ name }) => name)')
    expect(loaded.filter((url) => url.endsWith('.js'))).toEqual([`${ui.gateway.admin}/ui/assets/app.js`])
    await page.context().close()
  },
  CASE_MS,
)
