// docs/mcp/protect-a-server.md as a user follows it: its servers, its file, the check and a client.
// @module-tag full
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ANY_PORTS, GwProcess, ROOT, until } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'
import { signedInV2 } from './clients.ts'
import { MACHINE } from './identity-provider.ts'

let url = ''
let gateway: GwProcess | undefined
let servers: ReturnType<typeof spawn> | undefined

beforeAll(async () => {
  const [port, idpPort, mcpPort] = [await freePort(), await freePort(), await freePort()]
  url = `http://127.0.0.1:${port}/mcp`
  const places = { IDP_PORT: String(idpPort), MCP_PORT: String(mcpPort), MCP_URL: url }
  servers = spawn(process.execPath, [join(ROOT, 'hack/mcp-sign-in.ts')], { env: { ...process.env, ...places } })
  let said = ''
  servers.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text))
  await until(
    'the servers run',
    () => said.includes('identity provider http'),
    () => said,
  )
  gateway = new GwProcess(['run', '-f', 'config/samples/standalone/mcp-sign-in.yaml', ...ANY_PORTS], {
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

it('the check lists the tools of the program', { timeout: 60_000 }, async () => {
  const args = ['mcp', 'check', url, '--client-id', MACHINE.id]
  const { code, stdout } = await new GwProcess(args, { GW_MCP_CLIENT_SECRET: MACHINE.secret }).ended
  expect(stdout).toContain('tools: 3: echo, add, upper')
  expect(code).toBe(0)
})

it.each([
  ['alice', ['echo', 'add', 'upper']],
  ['bob', ['echo', 'add']],
])('%s signs in and finds the tools of the page', { timeout: 60_000 }, async (login, tools) => {
  const client = await signedInV2(new URL(url), { login })
  expect(await client.tools()).toEqual(tools)
  await client.close()
})
