// The web UI of a controller in a real browser, with the admin server of an operator that runs against an API server in
// this process. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { connect } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RELAY_GATEWAYS, RELAY_TARGET } from '#api/admin/relay-headers.ts'
import type { AdminTransport } from '#cli/portforward/admin-client.ts'
import { GATEWAYS_PATH, GatewayRelays } from '#cli/ui/gateway-relays.ts'
import { startRelay } from '#cli/ui/relay.ts'
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

const table = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const row = (page: Page, name: string, text: string) => table(page, name).getByRole('row').filter({ hasText: text })

it.each(THEMES)(
  'the web UI of a controller has Gateways, proxies that are behind, and objects with problems, %s',
  async (_, options) => {
    const page = await ui.open(options, controller.admin)
    await row(page, 'Gateways', 'shop/web').getByText('gw ui gateway/web -n shop').waitFor()
    await row(page, 'Proxies', 'web-a').getByText('current').waitFor()
    expect(await row(page, 'Proxies', 'web-b').getByRole('cell').allTextContents()).toEqual([
      'shop/web',
      'web-b',
      '5',
      'behind other proxies',
    ])
    const condition = row(page, 'Conditions that report a problem', 'BackendNotFound').first()
    expect((await condition.getByRole('cell').allTextContents()).slice(0, 2)).toEqual([
      'HTTPRoute shop/cart',
      'ResolvedRefs: False',
    ])
    const problem = row(page, 'Problems of objects', 'HTTPRoute shop/cart').first()
    expect(await problem.getByRole('cell').nth(3).textContent()).toBe('spec.rules[0].backendRefs[0]')
    await page.getByLabel('Object, pod').fill('web-b')
    await row(page, 'Proxies', 'web-a').waitFor({ state: 'detached' })
    await page.getByText('No problem has this text.').waitFor()
    expect(await flaws(page)).toEqual(NO_FLAWS)
    expect(ui.problems).toEqual([])
    await page.context().close()
  },
  CASE_MS,
)

it.each(THEMES)(
  'a Gateway has a page with its listeners, proxies and problems, and pages with what the controller has translated, %s',
  async (_, options) => {
    const page = await ui.open(options, controller.admin)
    await row(page, 'Gateways', 'shop/web').getByRole('link', { name: 'shop/web' }).click()
    await page.getByRole('heading', { name: 'Gateway shop/web' }).waitFor()
    await row(page, 'Listeners', 'http').getByText('served').waitFor()
    await row(page, 'Proxies', 'web-b').getByText('behind').waitFor()
    await row(page, 'Problems of objects', 'HTTPRoute shop/cart').first().waitFor()
    expect(await flaws(page)).toEqual(NO_FLAWS)

    await page.getByRole('link', { name: 'Routes' }).click()
    await row(page, 'Routes', 'pay').getByText('path prefix / and method POST').waitFor()
    await row(page, 'Routes', 'pay').getByText('invalid: backend(missing').waitFor()
    await row(page, 'Routes', 'show').getByRole('button').press('Enter')
    const inForce = table(page, 'Policies in force')
    await inForce.getByText('<redacted>').waitFor()
    expect(await page.content()).not.toContain('hunter2')
    await page.getByText('gw proxy config routes gateway/web -n shop').waitFor()
    expect(await flaws(page)).toEqual(NO_FLAWS)

    await inForce.getByRole('link', { name: 'GwPolicy shop/origins' }).click()
    await page
      .getByLabel(/^Policy .*origins/)
      .getByText('https://shop.example.com')
      .waitFor()
    expect(await flaws(page)).toEqual(NO_FLAWS)

    await page.getByRole('link', { name: 'Backends' }).click()
    await row(page, 'Endpoints of backends', 'shop/cart').getByText('no ready endpoints').waitFor()
    expect(await flaws(page)).toEqual(NO_FLAWS)

    await page.getByRole('link', { name: 'All Gateways' }).click()
    await page.getByRole('heading', { name: 'All Gateways' }).waitFor()
    expect(ui.problems).toEqual([])
    await page.context().close()
  },
  CASE_MS,
)

it(
  'opens the web UI of a proxy through gw ui, on a port of its own',
  async () => {
    const relays = new GatewayRelays({
      find: async () => transportTo(ui.gateway.admin),
      start: (proxy) => startRelay(proxy, { headers: { [RELAY_TARGET]: 'gateway/web -n shop' } }),
    })
    const relay = await startRelay(transportTo(controller.admin), {
      headers: { [RELAY_GATEWAYS]: GATEWAYS_PATH },
      elsewhere: (path) => relays.urlFor(path),
    })
    const page = await ui.open({}, controller.admin)
    await page.goto(relay.url)
    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Open the web UI of a proxy of shop/web' }).click()
    const proxy = await opened
    await proxy.getByRole('link', { name: 'Routes' }).click()
    await proxy.getByText('gw proxy config routes gateway/web -n shop').waitFor()
    expect(new URL(proxy.url()).origin).not.toBe(new URL(page.url()).origin)
    await page.reload()
    await row(page, 'Gateways', 'shop/web').waitFor()
    // Requests to the relays.
    ui.problems.splice(0)
    await page.context().close()
    relay.close()
    relays.close()
  },
  CASE_MS,
)

function transportTo(admin: string): AdminTransport {
  const { hostname, port, host } = new URL(admin)
  return { label: host, open: async () => connect(Number(port), hostname) }
}

it(
  'reports a Gateway that the controller does not serve',
  async () => {
    const page = await ui.open({}, controller.admin)
    await page.goto(`${controller.admin}/ui/?gateway=shop/none`)
    await page.getByRole('alert').getByText('this controller serves no Gateway with this name').waitFor()
    // The browser reports the status 404.
    expect(ui.problems.splice(0).length).toBeGreaterThan(0)
    await page.context().close()
  },
  CASE_MS,
)
