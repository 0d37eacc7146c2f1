// The web UI of a controller in a real browser, with the admin server of an operator that runs against an API server in
// this process. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CASE_MS, SETUP_MS, startUi, THEMES, type Ui, flaws, NO_FLAWS } from '#test/ui/browser.testing.ts'
import { type ControllerDemo, startControllerDemo } from '#test/ui/controller-demo.testing.ts'

let ui: Ui
let controller: ControllerDemo

beforeAll(async () => {
  ui = await startUi()
  controller = await startControllerDemo(ui.bundle)
}, SETUP_MS)

afterAll(async () => {
  await controller?.stop()
  await ui?.stop()
})

it.each(THEMES)(
  'the web UI of a controller has Gateways, proxies that are behind, and conditions that report a problem, %s',
  async (_, options) => {
    const page = await ui.open(options, controller.admin)
    const row = (table: string, text: string) =>
      page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text })
    await row('Gateways', 'shop/web').getByText('gw ui gateway/web -n shop').waitFor()
    await row('Proxies', 'web-a').getByText('current').waitFor()
    expect(await row('Proxies', 'web-b').getByRole('cell').allTextContents()).toEqual([
      'shop/web',
      'web-b',
      '5',
      'behind',
    ])
    const condition = row('Conditions that report a problem', 'HTTPRoute shop/cart')
    expect((await condition.first().getByRole('cell').allTextContents()).slice(1, 3)).toEqual([
      'ResolvedRefs: False',
      'BackendNotFound',
    ])
    await page.getByLabel('Object, pod').fill('web-b')
    await row('Proxies', 'web-a').waitFor({ state: 'detached' })
    expect(await flaws(page)).toEqual(NO_FLAWS)
    expect(ui.problems).toEqual([])
    await page.context().close()
  },
  CASE_MS,
)
