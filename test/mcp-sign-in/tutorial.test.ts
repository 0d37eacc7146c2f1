// docs/mcp/protect-a-server.md as a user follows it: its servers, its file, the check and a client.
// @module-tag full
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GwProcess, ROOT, until } from '#test/cli/gw.ts'
import { deviations } from '#test/console-steps.ts'
import { startInShell } from '#test/pages/shell.ts'
import { commandsFor } from '#test/pages/tested-pages.ts'
import { freePort } from '#test/ports.ts'
import { signedInV2 } from './clients.ts'

const TEST = 'test/mcp-sign-in/tutorial.test.ts'
const PAGE = 'docs/mcp/protect-a-server.md'

let url = ''
let gateway: GwProcess | undefined
let servers: ReturnType<typeof spawn> | undefined

beforeAll(async () => {
  const [port, idpPort, mcpPort] = [await freePort(), await freePort(), await freePort()]
  url = `http://127.0.0.1:${port}/mcp`
  const places = { IDP_PORT: String(idpPort), MCP_PORT: String(mcpPort), MCP_URL: url }
  const [startServers, startGateway] = commandsFor(TEST, PAGE).map(({ command }) => command)
  servers = spawn('bash', ['-c', `exec ${startServers}`], { cwd: ROOT, env: { ...process.env, ...places } })
  let said = ''
  servers.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text))
  await until(
    'the servers run',
    () => said.includes('identity provider http'),
    () => said,
  )
  gateway = startInShell([startGateway ?? ''], ROOT, {
    PORT: String(port),
    ISSUER: `http://127.0.0.1:${idpPort}`,
    MCP_URL: url,
    MCP_SERVER: `http://127.0.0.1:${mcpPort}/mcp`,
  })
  await gateway.says('gw: serving')
}, 120_000)

afterAll(async () => {
  await gateway?.stop()
  if (servers === undefined) return
  const ended = once(servers, 'exit')
  servers.kill()
  await ended
})

it('the page has no other commands than those that start something, and these', () => {
  expect(commandsFor(TEST, PAGE).map(({ command }) => command.split(' ')[0])).toEqual([
    'node_modules/.bin/node',
    'bin/gw',
    'curl',
    "GW_MCP_CLIENT_SECRET='secret",
  ])
})

it.each(commandsFor(TEST, PAGE).slice(2))(
  'the command $command prints what the page shows',
  { timeout: 60_000 },
  async ({ command, output }) => {
    const here = (text: string): string => text.replaceAll('http://127.0.0.1:3000', new URL(url).origin)
    const { stdout } = await promisify(execFile)('bash', ['-c', here(command)], { cwd: ROOT })
    expect(deviations([{ command, output: here(output) }], [stdout])).toEqual([])
  },
)

it.each([
  ['alice', ['echo', 'add', 'upper']],
  ['bob', ['echo', 'add']],
])('%s signs in and finds the tools of the page', { timeout: 60_000 }, async (login, tools) => {
  const client = await signedInV2(new URL(url), { login })
  expect(await client.tools()).toEqual(tools)
  await client.close()
})
