// Draws the pictures of docs/ui.md again (`make pictures`): the demo of the tests in Chromium. Names after the command
// draw these only. Needs Chromium (`apt-get install chromium`).
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { THEMES } from '#test/ui/browser.testing.ts'
import { startControllerDemo } from '#test/ui/controller-demo.testing.ts'
import { type Demo, startDemo } from '#test/ui/demo.testing.ts'

const FOLDER = join(import.meta.dirname, '../../docs/ui')
const HEIGHT_MAX = 1800
const [[, DESK], [, PHONE]] = THEMES
/** The charts have a point for each. */
const POINT_MS = 15_000
/** Of each kind between two points. */
const ROUNDS = [4, 9, 6, 14, 8]

type Draw = (page: Page, demo: Demo) => Promise<unknown>

/** By file: the page in the menu, and what the user does there. */
const PICTURES: Readonly<Record<string, readonly [page: string, draw: Draw]>> = {
  overview: ['Overview', (page) => page.getByRole('img', { name: 'Latency' }).waitFor()],
  requests: ['Requests', drawRequests],
  replay: ['Requests', drawReplay],
  'policies-in-force': ['Routes', drawPolicies],
  limits: ['Limits', (page) => page.getByText('as the services reported it last').waitFor()],
  models: ['Models', (page) => page.getByRole('region', { name: 'Prices' }).waitFor()],
  backends: ['Backends', drawBackends],
  'mcp-servers': ['MCP servers', drawServers],
  'route-tester': ['Route tester', drawTester],
  cel: ['CEL playground', drawExpression],
  chat: ['Chat', drawChat],
  'mcp-playground': ['MCP playground', drawCall],
  connect: ['Connect', (page) => page.getByLabel('curl', { exact: true }).waitFor()],
  configuration: ['Configuration', drawProblem],
  system: ['System', (page) => page.getByText('Memory').first().waitFor()],
}

async function drawPolicies(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Policies in force for .*admin/ }).press('Enter')
  await page.getByRole('region', { name: 'Policies in force' }).getByText('authorization').first().waitFor()
}

async function drawRequests(page: Page, { gateway }: Demo): Promise<void> {
  await watch(page, [`${gateway.url}/open`, `${gateway.url}/nowhere`, `${gateway.url}/admin/users`])
  await page.getByRole('button', { name: /users → 403/ }).click()
  await page.getByRole('listitem').filter({ hasText: 'decided' }).getByRole('button').click()
}

async function drawReplay(page: Page, { gateway }: Demo): Promise<void> {
  await watch(page, [`${gateway.url}/admin/users`])
  await page.getByRole('button', { name: /users → 403/ }).click()
  await page.getByRole('button', { name: 'Edit and send again' }).click()
  const fields = page.getByLabel('Header fields')
  await fields.fill(`${await fields.inputValue()}\nx-role: admin`)
  await page.getByRole('region', { name: 'Replay' }).getByRole('button', { name: 'Send' }).click()
  await page.getByRole('heading', { name: /^503/ }).waitFor()
  await page.getByRole('combobox', { name: 'Snapshot' }).selectOption('initial request')
  await page.getByLabel('Difference').getByText('x-role').waitFor()
}

/** Sends the requests, each when the page waits for it. */
async function watch(page: Page, urls: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Watch' }).click()
  for (const [at, url] of urls.entries()) {
    await page.getByText('Waiting for the next request.').waitFor()
    await delay(500)
    await (await fetch(url)).text()
    await page.getByRole('button', { name: /→ \d+/ }).nth(at).waitFor()
  }
}

async function drawBackends(page: Page, { gateway }: Demo): Promise<void> {
  for (let i = 0; i < 2; i++) await (await fetch(`${gateway.url}/carts`)).text()
  await page.reload()
  await page.getByText('2 failures in a row').waitFor()
}

async function drawServers(page: Page, { gateway }: Demo): Promise<void> {
  await page.getByLabel('URL').fill(`${gateway.url}/mcp`)
  await page.keyboard.press('Enter')
  const tool = page.getByRole('row').filter({ hasText: 'The weather of the next days' })
  await tool.getByText('place', { exact: true }).click()
  await page.getByRole('cell', { name: 'answers' }).waitFor()
}

async function drawTester(page: Page, { gateway }: Demo): Promise<void> {
  await page.getByLabel('URL').fill(`${gateway.url}/admin/users`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'default/admin' }).waitFor()
}

async function drawExpression(page: Page, { gateway }: Demo): Promise<void> {
  await page.getByRole('button', { name: 'Capture the next request' }).click()
  await page.getByText('Waiting for a request').waitFor()
  await (await fetch(`${gateway.url}/admin/users`, { headers: { 'x-tenant': 'core' } })).text()
  await page.getByText('Captured.').waitFor()
  await page
    .getByLabel('Expression')
    .fill('request.headers["x-tenant"] == "core" &&\n  request.path.startWith("/admin")')
  await page.getByRole('button', { name: 'Evaluate' }).click()
  await page.getByLabel('Place of the mistake').waitFor()
}

async function drawChat(page: Page): Promise<void> {
  await page.getByLabel('Format', { exact: true }).selectOption('Responses')
  await page.getByRole('button', { name: 'List models' }).click()
  await page.getByText('The gateway offers 3 models.').waitFor()
  await page.getByLabel('Model').fill('gpt-demo')
  await page.getByText('Tools', { exact: true }).click()
  await page.getByLabel('Tools').fill('[{"type": "function", "function": {"name": "forecast"}}]')
  await page.getByLabel('Message').fill('How is the weather in Bern?')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByLabel('Result of forecast').fill('Rain')
  await page.getByRole('button', { name: 'Send results' }).click()
  await page.getByRole('listitem').getByText('The tool says Rain').waitFor()
  await page.getByRole('heading', { name: '200' }).waitFor()
}

async function drawCall(page: Page, { gateway }: Demo): Promise<void> {
  await page.getByLabel('URL').fill(`${gateway.url}/mcp`)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'forecast' }).click()
  await page.getByLabel('place (required)').fill('Bern')
  await page.keyboard.press('Enter')
  await page.getByLabel('Result').getByText('Rain in Bern').waitFor()
}

async function drawProblem(page: Page): Promise<void> {
  const text = page.getByRole('textbox', { name: 'Text of' })
  await text.press('Control+f')
  await page.getByRole('textbox', { name: 'Find' }).fill('"status": 200')
  await page.getByRole('textbox', { name: 'Replace' }).fill('"stats": 200')
  await page.getByRole('button', { name: 'replace all' }).press('Enter')
  await page.keyboard.press('Escape')
  await page.getByRole('list', { name: 'Problems' }).getByText('did you mean status?').waitFor()
  await page
    .getByRole('button', { name: /^line / })
    .first()
    .click()
}

/** The whole page, up to a height. */
async function save(page: Page, name: string): Promise<void> {
  const size = page.viewportSize() ?? DESK.viewport
  const pixels = await page.evaluate<number>('Math.ceil(document.documentElement.scrollHeight)')
  await page.setViewportSize({ width: size.width, height: Math.max(size.height, Math.min(pixels, HEIGHT_MAX)) })
  await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)')
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' })
  process.stdout.write(`docs/ui/${name}.png\n`)
}

async function drawAll(wanted: ReadonlySet<string>): Promise<void> {
  const isWanted = (name: string): boolean => wanted.size === 0 || wanted.has(name)
  const demo = await startDemo({ UI_ACTIONS: 'true', UI_EDITS: 'true' })
  try {
    for (const count of isWanted('overview') || isWanted('overview-phone') ? ROUNDS : [1]) {
      for (let i = 0; i < count; i++) {
        await demo.traffic()
        if (count > 1) await delay(POINT_MS / count)
      }
    }
    for (const [name, [title, draw]] of Object.entries(PICTURES).filter(([one]) => isWanted(one))) {
      const page = await demo.open(DESK)
      await page.getByRole('link', { name: title, exact: true }).click()
      await draw(page, demo)
      await save(page, name)
      await page.context().close()
    }
    if (isWanted('overview-phone')) {
      const page = await demo.open(PHONE)
      await page.getByRole('img', { name: 'Latency' }).waitFor()
      await save(page, 'overview-phone')
    }
    if (isWanted('controller')) await drawController(demo)
    if (demo.problems.length > 0) throw new Error(demo.problems.join('\n'))
  } finally {
    await demo.stop()
  }
}

async function drawController(demo: Demo): Promise<void> {
  const controller = await startControllerDemo(demo.bundle)
  try {
    const page = await demo.open(DESK, controller.admin)
    await page.getByRole('region', { name: 'Conditions that report a problem' }).waitFor()
    await save(page, 'controller')
    await page.getByRole('region', { name: 'Gateways' }).getByRole('link', { name: 'shop/web' }).click()
    await page.getByRole('link', { name: 'Routes' }).click()
    await page.getByRole('row').filter({ hasText: 'show' }).getByRole('button').press('Enter')
    await page.getByRole('region', { name: 'Policies in force' }).waitFor()
    await save(page, 'controller-routes')
  } finally {
    await controller.stop()
  }
}

await drawAll(new Set(process.argv.slice(2)))
