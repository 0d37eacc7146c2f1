// The web UI of a proxy with hundreds of routes: tables show their first rows, the command below a table prints all of
// them, and the first view loads only its own code. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
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
  'has the command that prints what the page shows, to copy',
  async () => {
    const page = await ui.open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('link', { name: 'Routes' }).press('Enter')
    await page.getByRole('button', { name: 'Copy the command' }).press('Enter')
    await page.getByText('Copied: the command.').waitFor()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(command).toMatch(/^gw proxy config routes --local /)
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(ui.bundle, 'gw.js'),
      ...command.split(' ').slice(1),
    ])
    expect(new Set(stdout.match(/route-\d+/g)).size).toBe(ROUTES)
    expect(ui.problems).toEqual([])
    await page.context().close()
  },
  CASE_MS,
)

it(
  'shows the link of the current page in the menu of a phone',
  async () => {
    const page = await ui.open({ viewport: { width: 390, height: 844 } })
    await page.goto(`${ui.gateway.admin}/ui/#/system`)
    await page.getByRole('heading', { name: 'System', level: 1 }).waitFor()
    const right = 'document.querySelector("nav a[aria-current]").getBoundingClientRect().right'
    await page.waitForFunction(`${right} <= innerWidth`)
    expect(await page.evaluate<number>(right)).toBeGreaterThan(0)
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
