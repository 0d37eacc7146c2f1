// The playgrounds of the web UI in a real browser. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CASE_MS, SETUP_MS, flaws, NO_FLAWS, THEMES, violations } from '#test/ui/browser.testing.ts'
import { type Demo, startDemo } from '#test/ui/demo.testing.ts'
import { until } from '#test/wait.ts'

/** An image of one dot. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let ui: Demo

beforeAll(async () => {
  ui = await startDemo({ UI_ACTIONS: 'true' })
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
      expect(await flaws(page)).toEqual(NO_FLAWS)
      await page.getByLabel('URL').fill('file:///etc/passwd')
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('400: url: must be an absolute URL').waitFor()
      expect(ui.problems.splice(0).every((problem) => problem.startsWith('Failed to load resource'))).toBe(true)
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'chats with a model of the gateway, by keyboard, and shows usage and cost',
    async () => {
      const page = await ui.open(theme)
      await page.getByRole('link', { name: 'Chat' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'List models' }).focus()
      await page.keyboard.press('Enter')
      await page.getByText('The gateway offers 3 models.').waitFor()
      await page.getByLabel('Model').fill('gpt-demo')
      await page.getByLabel('Message').fill('Hi')
      await page.getByRole('button', { name: 'Send' }).focus()
      await page.keyboard.press('Enter')
      const messages = page.getByRole('list', { name: 'Messages' }).getByRole('listitem')
      await messages.getByText(/300 output tokens, 0\.0042 USD.*, first text after \d.* in all$/).waitFor()
      expect((await messages.allTextContents()).map((text) => text.slice(0, 12))).toEqual(['YouHi', 'ModelHello90'])
      await page.getByRole('heading', { name: '200' }).waitFor()
      expect(await flaws(page)).toEqual(NO_FLAWS)
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'lists and calls the tools of an MCP route, by keyboard',
    async () => {
      const page = await ui.open(theme)
      await page.getByRole('link', { name: 'MCP playground' }).focus()
      await page.keyboard.press('Enter')
      await page.getByLabel('URL').fill(`${ui.gateway.url}/mcp`)
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('Connected to').waitFor()
      const tool = page.getByRole('row').filter({ hasText: 'The weather of the next days' })
      expect((await tool.getByRole('cell').allTextContents()).slice(0, 2)).toEqual(['tool', 'forecast'])
      await tool.getByText('place', { exact: true }).click()
      await tool.getByLabel('JSON Schema').getByText('"required": [').waitFor()
      await page.getByRole('button', { name: 'forecast' }).focus()
      await page.keyboard.press('Enter')
      await page.getByLabel('place (required)').fill('Bern')
      await page.keyboard.press('Enter')
      await page.getByLabel('Result').getByText('Rain in Bern').waitFor()
      await page.getByRole('heading', { name: '200' }).waitFor()
      expect(await flaws(page)).toEqual(NO_FLAWS)
      await page.getByLabel('URL').fill(`${ui.gateway.url}/nowhere`)
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('heading', { name: '404: route not found' }).waitFor()
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'lists the tools of MCP servers with their schemas when the user asks, by keyboard, and ends the session',
    async () => {
      const page = await ui.open(theme)
      const before = ui.calls().length
      await page.getByRole('link', { name: 'MCP servers' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Tools that a client gets' }).waitFor()
      expect(ui.calls().length).toBe(before)
      await page.getByLabel('URL').fill(`${ui.gateway.url}/mcp`)
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('answered in').waitFor()
      const tool = page.getByRole('row').filter({ hasText: 'The weather of the next days' })
      expect((await tool.getByRole('cell').allTextContents())[1]).toBe('forecast')
      await tool.getByText('place', { exact: true }).click()
      await tool.getByLabel('JSON Schema').getByText('"required": [').waitFor()
      await until('the session has ended', () => ui.calls().slice(before).includes('DELETE'))
      expect(ui.calls().slice(before)).toEqual(['initialize', 'notifications/initialized', 'tools/list', 'DELETE'])
      expect(await flaws(page)).toEqual(NO_FLAWS)
      await page.getByLabel('URL').fill(`${ui.gateway.url}/nowhere`)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: '404: route not found' }).waitFor()
      expect(await page.getByRole('region', { name: 'Tools, resources and prompts' }).count()).toBe(0)
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'evaluates expressions with a captured request, and marks mistakes at their character',
    async () => {
      const page = await ui.open(theme)
      await page.getByRole('link', { name: 'CEL playground' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Capture the next request' }).focus()
      await page.keyboard.press('Enter')
      await page.getByText('Waiting for a request').waitFor()
      expect((await fetch(`${ui.gateway.url}/admin/users`, { headers: { 'x-tenant': 'core' } })).status).toBe(403)
      await page.getByText('Captured.').waitFor()
      await page.getByLabel('Expression').fill('request.headers["x-tenant"] + " " + string(response.code) + request.pa')
      await page.getByRole('group', { name: 'Complete' }).getByRole('button', { name: 'path' }).first().focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Evaluate' }).click()
      await page.getByLabel('Value').getByText('"core 403/admin/users"').waitFor()
      await page.getByLabel('Expression').fill('request.path ==\n  )')
      await page.getByRole('button', { name: 'Evaluate' }).click()
      const place = page.getByLabel('Place of the mistake')
      await place.waitFor()
      expect(await place.textContent()).toBe('  )\n  ^')
      expect(await flaws(page)).toEqual(NO_FLAWS)
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )

  it(
    'sends a request again with another header, and compares both traces',
    async () => {
      const page = await ui.open(theme)
      await page.getByRole('link', { name: 'Requests' }).focus()
      await page.keyboard.press('Enter')
      await page.getByLabel('Only requests').fill('request.path == "/admin/replay"')
      await page.keyboard.press('Enter')
      await page.getByText('Waiting for the next request.').waitFor()
      const headers = { authorization: 'Bearer secret-of-the-client', 'x-role': 'guest' }
      expect((await fetch(`${ui.gateway.url}/admin/replay`, { method: 'PUT', headers, body: 'a' })).status).toBe(403)
      const watched = page.getByRole('button', { name: /PUT .*replay → 403/ })
      await watched.waitFor()
      await page.getByLabel('Status').selectOption('2xx')
      await page.getByText('No request matches the filters.').waitFor()
      await page.getByLabel('Status').selectOption('4xx')
      await page.getByLabel('Method, path, route').fill('authorization')
      await watched.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Edit and send again' }).focus()
      await page.keyboard.press('Enter')
      const fields = page.getByLabel('Header fields')
      expect(await fields.inputValue()).toContain('authorization: <redacted>')
      await fields.fill('x-role: admin')
      await page.getByRole('region', { name: 'Replay' }).getByRole('button', { name: 'Send' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: /^503/ }).waitFor()
      await page.getByRole('combobox', { name: 'Snapshot' }).selectOption('initial request')
      const difference = page.getByLabel('Difference')
      await difference.getByText('+ /request/headers/x-role: "admin"').waitFor()
      expect(await difference.textContent()).toContain('- /request/headers/x-role: "guest"')
      expect(await flaws(page)).toEqual(NO_FLAWS)
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the chat', () => {
  it(
    'shows calls of tools, with and without a stream, and the reason of a failure',
    async () => {
      const page = await ui.open()
      await page.getByRole('link', { name: 'Chat' }).click()
      await page.getByLabel('Model').fill('gpt-demo')
      await page.getByText('Tools', { exact: true }).click()
      await page.getByLabel('Tools').fill('[{"type": "function", "function": {"name": "forecast"}}]')
      for (const isStream of [true, false]) {
        await page.getByRole('button', { name: 'New chat' }).click()
        await page.getByLabel('Stream').setChecked(isStream)
        await page.getByLabel('Message').fill('Hi')
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByLabel('Call of forecast').getByText('forecast({"place":"Bern"})').waitFor()
      }
      await page.getByLabel('Result of forecast').fill('Rain')
      await page.getByRole('button', { name: 'Send results' }).click()
      await page.getByRole('listitem').getByText('The tool says Rain').waitFor()
      await page.getByLabel('Tools').fill('{')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('status').getByText('JSON').waitFor()
      await page.getByLabel('Tools').fill('')
      await page.getByLabel('Model').fill('gpt-unknown')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('status').getByText('the gateway answered 404').waitFor()
      expect(await page.evaluate('[...Object.keys(localStorage), ...Object.keys(sessionStorage)]')).toEqual([])
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe.each([
  ['Chat completions', '/v1/chat/completions'],
  ['Messages', '/v1/messages'],
  ['Responses', '/v1/responses'],
])('the chat in the format %s', (format, path) => {
  it(
    'sends images, shows calls of tools and sends their results, with and without a stream, with the cost',
    async () => {
      const page = await ui.open()
      await page.getByRole('link', { name: 'Chat' }).click()
      await page.getByLabel('Format', { exact: true }).selectOption(format)
      expect(await page.getByLabel('URL').inputValue()).toBe(
        `${ui.gateway.url.replace('127.0.0.1', 'localhost')}${path}`,
      )
      await page.getByLabel('Model').fill('gpt-demo')
      await page.getByText('Tools', { exact: true }).click()
      await page.getByLabel('Tools').fill('[{"type": "function", "function": {"name": "forecast"}}]')
      for (const isStream of [true, false]) {
        await page.getByRole('button', { name: 'New chat' }).click()
        await page.getByLabel('Stream').setChecked(isStream)
        await page.getByLabel('Message').fill('What is this?')
        await page.getByLabel('Images').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: DOT })
        await page.getByText('dot.png').waitFor()
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByText(`Hello, I see ${DOT.length} bytes of image/png`, { exact: true }).waitFor()
        await page.getByRole('img', { name: 'dot.png' }).waitFor()
        await page.getByLabel('Call of forecast').getByText('forecast({"place":"Bern"})').waitFor()
        await page
          .getByRole('listitem')
          .getByText(/0\.0042 USD/)
          .last()
          .waitFor()
      }
      await page.getByLabel('Result of forecast').fill('Rain')
      await page.getByLabel('Stream').setChecked(true)
      await page.getByRole('button', { name: 'Send results' }).click()
      await page.getByRole('listitem').getByText('The tool says Rain').waitFor()
      expect(await flaws(page)).toEqual(NO_FLAWS)
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('images of the chat', () => {
  it(
    'must be images, and not too large',
    async () => {
      const page = await ui.open()
      await page.getByRole('link', { name: 'Chat' }).click()
      const images = page.getByLabel('Images')
      await images.setInputFiles({ name: 'a.svg', mimeType: 'image/svg+xml', buffer: DOT })
      await page.getByRole('alert').getByText('a.svg is not an image').waitFor()
      await images.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.alloc(2 * 1024 * 1024 + 1) })
      await page.getByRole('alert').getByText('larger than 2 MiB').waitFor()
      expect(await page.getByRole('button', { name: 'Remove images' }).count()).toBe(0)
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the MCP playground', () => {
  it(
    'lets the user answer questions of a server, and decline them',
    async () => {
      const page = await ui.open()
      await page.getByRole('link', { name: 'MCP playground' }).click()
      await page.getByLabel('URL').fill(`${ui.gateway.url}/mcp`)
      await page.getByRole('button', { name: 'Connect' }).click()
      for (const [tool, answer, button, result] of [
        ['ask-user', 'Bern', 'Answer', '"place\\":\\"Bern'],
        ['ask-user', '', 'Decline', 'decline'],
        ['ask-model', 'Sunny', 'Answer', 'Sunny'],
      ] as const) {
        await page.getByRole('button', { name: tool }).click()
        await page.getByRole('button', { name: 'Call' }).click()
        const question = page.getByRole('region', { name: 'Request of the server' })
        await question.waitFor()
        expect(await violations(page)).toEqual([])
        if (answer !== '') await question.getByRole('textbox').fill(answer)
        await question.getByRole('button', { name: button }).click()
        await page.getByLabel('Result').getByText(result).waitFor()
      }
      expect(ui.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})
