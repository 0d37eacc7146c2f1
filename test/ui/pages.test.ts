// Pages of the web UI about what a proxy does and has, in a real browser: traffic, policies in force, models, MCP
// servers. Needs Chromium (`apt-get install chromium`).
// @module-tag full
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { CASE_MS, flaws, NO_FLAWS, SETUP_MS, THEMES, violations } from '#test/ui/browser.testing.ts'
import { type Demo, startDemo } from '#test/ui/demo.testing.ts'

let demo: Demo

beforeAll(async () => {
  demo = await startDemo()
}, SETUP_MS)

afterAll(() => demo?.stop())

describe('the page Overview', () => {
  it.each(['light', 'dark'] as const)(
    'has charts of requests, errors, latency, tokens and cost, %s',
    async (colorScheme) => {
      const page = await demo.open({ colorScheme })
      await demo.traffic()
      const chart = (title: string) => page.getByRole('img', { name: `${title}, the last 1 min` })
      for (const title of ['Requests a second', 'Errors a second', 'Latency', 'Tokens a minute', 'Cost an hour']) {
        expect(await chart(title).getAttribute('aria-label')).toMatch(/; highest \$?[\d,.]+(?: m?s)?$/)
      }
      const row = page
        .getByRole('region', { name: 'Listeners' })
        .getByRole('row')
        .filter({ hasText: 'default/default' })
      expect(await row.getByRole('cell').nth(7).textContent()).toMatch(/^[1-9]\d*$/)
      const today = page.getByRole('region', { name: 'Tokens and cost today' })
      expect(await today.getByRole('row').nth(1).getByRole('cell').allTextContents()).toEqual([
        'default/default',
        expect.stringMatching(/^[1-9]\d*$/),
        expect.stringMatching(/^[1-9][\d,]*$/),
        expect.stringMatching(/^[1-9][\d,]*$/),
        expect.stringMatching(/^\$0\.\d+$/),
      ])
      await page.getByText(/^Since .*\d{4}-\d\d-\d\d \d\d:\d\d/).waitFor()
      // One that stays open: those of `fetch` may close.
      const client = connect(Number(new URL(demo.gateway.url).port), '127.0.0.1')
      await expect
        .poll(() => row.getByRole('cell').nth(6).textContent(), { timeout: CASE_MS / 4 })
        .toMatch(/^[1-9]\d*$/)
      client.destroy()
      expect(await violations(page)).toEqual([])
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the page Routes', () => {
  it.each(['light', 'dark'] as const)(
    'has the policies in force for a rule with their sources, by keyboard, %s',
    async (colorScheme) => {
      const page = await demo.open({ colorScheme, permissions: ['clipboard-read', 'clipboard-write'] })
      await page.getByRole('link', { name: 'Routes' }).click()
      await page.getByRole('button', { name: /^Policies in force for .*admin/ }).press('Enter')
      const panel = page.getByRole('region', { name: /^Policies in force for/ })
      const row = (field: string) => panel.getByRole('row').filter({ hasText: field })
      await row('authorization').getByText('x-role').waitFor()
      expect(await row('authorization').getByRole('cell').nth(3).textContent()).toMatch(/^the rule .*admin/)
      expect(await row('timeouts').getByRole('cell').nth(3).textContent()).toContain('limits')
      expect(await row('auth').last().textContent()).not.toContain('secret-of-the-backend')
      await panel.getByRole('button', { name: 'Copy as YAML' }).press('Enter')
      await page.getByText('Copied: the policies as YAML.').waitFor()
      const copied: unknown = parse(await page.evaluate<string>('navigator.clipboard.readText()'))
      expect(copied).toMatchObject({
        route: expect.arrayContaining([expect.objectContaining({ field: 'authorization' })]),
      })
      expect(await violations(page)).toEqual([])
      await panel.getByRole('button', { name: 'Close' }).press('Enter')
      await panel.waitFor({ state: 'detached' })
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the page Backends', () => {
  it.each(THEMES)(
    'has health and latency of the last hour, connections, and evictions with their cause, %s',
    async (_, options) => {
      await demo.traffic()
      for (let i = 0; i < 2; i++) expect((await fetch(`${demo.gateway.url}/carts`)).status).toBe(503)
      const page = await demo.open(options)
      await page.getByRole('link', { name: 'Backends' }).click()
      const table = page.getByRole('region', { name: 'Endpoints of backends' })
      const row = (text: string) => table.getByRole('row').filter({ hasText: text }).first()
      await row('carts')
        .getByRole('img', { name: /^Health of the last \d+ min: lowest 0\.\d+, evicted in [12] min$/ })
        .waitFor()
      const carts = await row('carts').getByRole('cell').allTextContents()
      expect(carts[7]).toMatch(/^[1-9]\d+s ago: \d failures in a row, no response$/)
      await row('gpt-demo')
        .getByRole('img', { name: /^Latency of the last \d+ min: highest [\d.]+ m?s$/ })
        .waitFor()
      expect((await row('gpt-demo').getByRole('cell').allTextContents())[6]).toMatch(/^\d open, \d idleof [\d,]+$/)
      expect(await flaws(page)).toEqual(NO_FLAWS)
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the page Models', () => {
  it.each(['light', 'dark'] as const)(
    'has the use of models with their cost, names in requests, and failover groups of providers, %s',
    async (colorScheme) => {
      const page = await demo.open({ colorScheme })
      await demo.traffic()
      await page.getByRole('link', { name: 'Models' }).press('Enter')
      const cells = (table: string, text: string) =>
        page.getByRole('region', { name: table }).getByRole('row').filter({ hasText: text }).first().getByRole('cell')
      await cells('Use since', 'gpt-demo')
        .nth(7)
        .getByText(/^\$0\.\d+$/)
        .waitFor()
      expect((await cells('Use since', 'gpt-demo').allTextContents()).slice(0, 3)).toEqual([
        'openai',
        'gpt-demo',
        'gpt-demo',
      ])
      for (const period of ['Today', 'Since the start']) {
        await page.getByLabel('Time').selectOption(period)
        await cells('By client', 'ann')
          .nth(5)
          .getByText(/^\$0\.\d+$/)
          .waitFor()
        expect((await cells('By client', 'ann').allTextContents()).slice(0, 2)).toEqual(['ann', 'apiKey'])
        expect((await cells('By client', 'not verified').allTextContents())[1]).toBe('')
        expect((await cells('By route', 'llm').allTextContents())[1]).toMatch(/^[1-9]\d*$/)
      }
      expect(await cells('Names of models', 'best').nth(1).textContent()).toBe('default/llm:virtual:best')
      expect((await cells('Providers', 'best2').allTextContents()).slice(0, 5)).toEqual([
        'default/llm:virtual:best',
        '2',
        'gpt-spare:1',
        'openai',
        'gpt-spare',
      ])
      await cells('Prices', 'gpt-demo').nth(2).getByText('$2', { exact: true }).waitFor()
      expect((await cells('Prices', 'gpt-demo').allTextContents()).slice(0, 4)).toEqual([
        'openai',
        'gpt-demo',
        '$2',
        '$8',
      ])
      expect(await page.content()).not.toMatch(/secret-of-the-provider|key-of-ann/)
      expect(await violations(page)).toEqual([])
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the page Limits', () => {
  it.each(THEMES)(
    'has what is left of limits and budgets, and links to their policies, %s',
    async (_, options) => {
      const page = await demo.open(options)
      await demo.traffic()
      await page.getByRole('link', { name: 'Limits' }).press('Enter')
      const cells = (table: string, text: string) =>
        page
          .getByRole('region', { name: table, exact: true })
          .getByRole('row')
          .filter({ hasText: text })
          .getByRole('cell')
      const local = cells('Limits that this proxy counts', '1,000,000 tokens an hour')
      await local.getByText(/^9\d\d,\d{3} of 1,000,000$/).waitFor()
      expect((await local.allTextContents())[2]).toBe('0')
      const budget = cells('Limits that a service counts', 'budgets')
      await budget.getByText('math.ceil(llm.cost.total * 1000000.0) by key').waitFor()
      expect((await budget.allTextContents()).slice(1, 4)).toEqual([expect.stringMatching(/^[1-9]\d*$/), '0', '0'])
      const left = cells('What is left, as the services reported it last', 'key=ann')
      await left.getByText('1,000,000 a day').waitFor()
      expect((await left.allTextContents())[2]).toMatch(/^9\d\d,\d{3}$/)
      await page.getByLabel('Policy, target or condition').fill('nothing has this')
      await page.getByText('No limit has this text.').first().waitFor()
      await page.getByLabel('Policy, target or condition').fill('')
      expect(await flaws(page)).toEqual(NO_FLAWS)
      await page
        .getByRole('link', { name: /limits/ })
        .first()
        .press('Enter')
      await page.getByRole('heading', { name: 'Policies' }).waitFor()
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the page MCP servers', () => {
  it.each(['light', 'dark'] as const)(
    'has servers with protocol and state, tools of OpenAPI documents with their schemas, and asks no server, %s',
    async (colorScheme) => {
      const page = await demo.open({ colorScheme })
      await page.getByRole('link', { name: 'MCP servers' }).press('Enter')
      const servers = page.getByRole('region', { name: 'MCP servers' })
      const cells = (server: string) => servers.getByRole('row').filter({ hasText: server }).getByRole('cell')
      await cells('weather').getByText('stateful, prefixes conditional, failClosed').waitFor()
      const [backend, server, protocol, , state, health] = await cells('weather').allTextContents()
      expect(backend).toMatch(/^default\/mcp/)
      expect([server, protocol]).toEqual(['weather', 'StreamableHTTP'])
      expect([state, health]).toEqual(['no request yet', '1.00'])
      expect((await cells('files').allTextContents()).slice(2, 5)).toEqual(['stdio', '', 'started for each session'])
      expect((await cells('OpenAPI').allTextContents())[3]).toBe('pets/backend0/pets')
      const tool = page.getByRole('region', { name: 'Tools of OpenAPI documents' }).getByRole('row').nth(1)
      expect((await tool.getByRole('cell').allTextContents()).slice(1, 3)).toEqual(['getPet', 'A pet with its owner'])
      await tool.getByText('path', { exact: true }).click()
      await tool.getByLabel('JSON Schema').getByText('"id"').first().waitFor()
      await page.getByText(`gw mcp pins ${demo.gateway.url.replace('127.0.0.1', 'localhost')}/pets/mcp`).waitFor()
      expect(await page.getByRole('button', { name: 'List tools' }).count()).toBe(0)
      expect(demo.calls()).toEqual([])
      expect(await violations(page)).toEqual([])
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('tools that an identity may call', () => {
  it.each(THEMES)(
    'has the decision for each tool with its rule and policy, without a token or a request to a server, %s',
    async (_, options) => {
      const before = demo.calls().length
      const page = await demo.open(options)
      await page.getByRole('link', { name: 'MCP servers' }).press('Enter')
      const form = page.locator('form').filter({ hasText: 'Identity, as JSON' })
      await form.getByLabel('Backend').selectOption('default/pets/backend0')
      expect(await form.getByLabel('Tools, one a line').inputValue()).toBe('pets/getPet')
      await form.getByLabel('Backend').selectOption('default/mcp')
      await form.getByLabel('Identity, as JSON').fill('{"jwt": {"sub": "guest"}}')
      await form.getByLabel('Tools, one a line').fill('forecast\nask-user\nforecast')
      await form.getByLabel('Tools, one a line').press('Tab')
      await page.keyboard.press('Enter')
      await form.getByRole('status').getByText('1 of 2 tools are allowed').waitFor()
      const table = page.getByRole('region', { name: 'Tools that the identity may call' })
      const cells = async (tool: string) =>
        table.getByRole('row').filter({ hasText: tool }).first().getByRole('cell').allTextContents()
      expect((await cells('forecast')).slice(0, 4)).toEqual(['weather', 'forecast', 'allowed', 'no rule'])
      const [, , result, decided] = await cells('ask-user')
      expect(result).toBe('not allowed')
      expect(decided).toContain('Deny: mcp.tool.name.startsWith("ask") && jwt.sub == "guest"')
      expect(await table.getByRole('link').first().getAttribute('href')).toMatch(/^#\/policies/)
      await form.getByLabel('Identity, as JSON').fill('{}')
      await form.getByRole('button', { name: 'Evaluate' }).click()
      await form.getByRole('status').getByText('2 of 2 tools are allowed').waitFor()
      expect((await cells('ask-user'))[4]).toMatch(/^undeclared reference to jwt in /)
      await form.getByLabel('Identity, as JSON').fill('{"jwt":')
      await form.getByRole('button', { name: 'Evaluate' }).click()
      await form.getByRole('status').getByText('identity: ').waitFor()
      expect(demo.calls().length).toBe(before)
      expect(await flaws(page)).toEqual(NO_FLAWS)
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('sessions of MCP clients', () => {
  it.each(THEMES)(
    'are listed with client, servers and times, without their ids, %s',
    async (_, options) => {
      const url = `${demo.gateway.url}/mcp`
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'tester', version: '7' } }
      const opened = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      })
      await opened.text()
      const id = opened.headers.get('mcp-session-id') ?? ''
      const page = await demo.open(options)
      await page.getByRole('link', { name: 'MCP servers' }).press('Enter')
      const session = page.getByRole('region', { name: 'Open sessions' }).getByRole('row').nth(1)
      await session.waitFor()
      const cells = await session.getByRole('cell').allTextContents()
      expect(cells.slice(1, 4)).toEqual(['mcp', 'tester 7', 'weather'])
      expect(cells[4]).toMatch(/^\d+ seconds? ago$/)
      const server = page.getByRole('region', { name: 'Sessions of servers' }).getByRole('row').nth(1)
      expect((await server.getByRole('cell').allTextContents()).slice(2)).toEqual(['weather', '1', '0'])
      expect(id).not.toBe('')
      expect(await page.content()).not.toContain(id)
      expect(await flaws(page)).toEqual(NO_FLAWS)
      expect(demo.problems).toEqual([])
      await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': id } })
      await page.context().close()
    },
    CASE_MS,
  )
})

describe('the page Connect', () => {
  it(
    'has commands with the address of the gateway that work',
    async () => {
      const page = await demo.open()
      await page.getByRole('link', { name: 'Connect' }).press('Enter')
      const command = await page.getByLabel('curl', { exact: true }).textContent()
      expect(command).toContain('"model":"best"')
      const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent`])
      expect(stdout).toContain('Hello')
      const server = await page.getByLabel('VS Code: .vscode/mcp.json', { exact: true }).textContent()
      expect(JSON.parse(server ?? '')).toEqual({
        servers: { gw: { type: 'http', url: `${demo.gateway.url.replace('127.0.0.1', 'localhost')}/mcp` } },
      })
      expect(await violations(page)).toEqual([])
      expect(demo.problems).toEqual([])
      await page.context().close()
    },
    CASE_MS,
  )
})
