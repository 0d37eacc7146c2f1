// Commands of docs/cli.md and docs/mcp/sign-in.md about an identity provider, against one of this machine.
// @module-tag full
import { createServer, type RequestListener } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { deviations } from '#test/console-steps.ts'
import { failuresOf, layCommand, Ports, type Result, resultsOf } from '#test/pages/shell.ts'
import { commandsFor } from '#test/pages/tested-pages.ts'
import { closeServer, listening } from '#test/ports.ts'
import { MACHINE, startIdentityProvider } from './identity-provider.ts'
import { VENDORS } from './vendors.ts'

const TEST = 'test/mcp-sign-in/page-commands.test.ts'
const MCP = 'https://mcp.example.com'
const IDP = 'https://idp.example.com'

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  onTestFinished(() => closeServer(server))
  return `http://127.0.0.1:${await listening(server)}`
}

/** Runs commands with other origins than those of the page; prints those of the page. */
async function run(commands: readonly string[], origins: Readonly<Record<string, string>>): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-provider-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  layCommand(folder)
  const pairs = Object.entries(origins)
  const change = (command: string): string => pairs.reduce((text, [page, here]) => text.replaceAll(page, here), command)
  const steps = commands.map((command) => ({ command }))
  const results = await resultsOf(steps, { folder, ports: new Ports(new Map()), change })
  const onPage = (text: string): string => pairs.reduce((result, [page, here]) => result.replaceAll(here, page), text)
  return results.map((result) => ({ ...result, printed: onPage(result.printed) }))
}

it('docs/cli.md: gw mcp check names the step that fails', async () => {
  const path = '/.well-known/oauth-protected-resource/mcp'
  const idp = await serverOf((request, response) => {
    const issuer = { issuer: `${idp}/`, authorization_endpoint: `${idp}/a`, token_endpoint: `${idp}/token` }
    const isMetadata = request.url === '/.well-known/oauth-authorization-server'
    response.writeHead(isMetadata ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(issuer))
  })
  const mcp = await serverOf((request, response) => {
    if (request.url === path) {
      const metadata = { resource: `${mcp}/mcp`, authorization_servers: [idp] }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata))
    } else {
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${mcp}${path}"` }).end()
    }
  })
  const steps = commandsFor(TEST, 'docs/cli.md')
  const results = await run(
    steps.map(({ command }) => command),
    { [MCP]: mcp, [IDP]: idp },
  )
  expect(
    deviations(
      steps,
      results.map(({ printed }) => printed),
    ),
  ).toEqual([])
  expect(results.map(({ code }) => code)).toEqual([1])
})

it('docs/mcp/sign-in.md: the check reports a server that requires no token, and a program gets a token', async () => {
  const [plain] = VENDORS
  if (plain === undefined) throw new Error('no provider without differences')
  const provider = await startIdentityProvider(plain, { resource: `${MCP}/mcp` })
  onTestFinished(() => provider.stop())
  const mcp = await serverOf((_, response) => response.writeHead(204).end())
  const variables = `ID=${MACHINE.id}; SECRET='${MACHINE.secret}'`
  const steps = commandsFor(TEST, 'docs/mcp/sign-in.md')
  // The resource of the token is that of the page.
  const here = steps.map(({ command }) => (command.startsWith('gw') ? command.replace(MCP, mcp) : command))
  const results = await run([variables, ...here], { [`${IDP}/token`]: provider.tokenUrl })
  const printed = (text: string): Result | undefined => results.find(({ command }) => command.startsWith(text))
  expect(results).toHaveLength(3)
  expect(failuresOf(results.filter(({ command }) => !command.startsWith('gw')))).toEqual([])
  expect(JSON.parse(printed('curl')?.printed ?? '')).toMatchObject({ access_token: expect.any(String) })
  expect(printed('gw mcp check')?.printed).toContain('challenge')
})
