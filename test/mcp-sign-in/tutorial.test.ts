// docs/mcp/protect-a-server.md as a user follows it: its servers, its file, the check and a client.
// @module-tag full
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ANY_PORTS, GwProcess, ROOT, until } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'
import { signedInV2 } from './clients.ts'

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

/** The command of a block of the page, and the lines that it prints: the block has them as comments. */
function shownIn(begin: string): { readonly command: string; readonly output: readonly string[] } {
  const page = readFileSync(join(ROOT, 'docs/mcp/protect-a-server.md'), 'utf8')
  const here = page.replaceAll('http://127.0.0.1:3000', new URL(url).origin)
  const blocks = [...here.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block.trim())
  const lines = blocks.find((block) => block.startsWith(begin))?.split('\n') ?? []
  const output = lines.filter((line) => line.startsWith('# ')).map((line) => line.slice(2))
  return { command: lines.filter((line) => !line.startsWith('# ')).join('\n'), output }
}

it.each(['curl ', 'GW_MCP_CLIENT_SECRET='])(
  'the command %s… prints what the page shows',
  { timeout: 60_000 },
  async (begin) => {
    const { command, output } = shownIn(begin)
    expect(command).toContain(url)
    const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: ROOT })
    const printed = stdout.replaceAll('\r', '').trim().split('\n')
    // Of one that it shortens, the page shows the first and the last lines.
    const cut = output.indexOf('…')
    const [first, last] = cut < 0 ? [output, []] : [output.slice(0, cut), output.slice(cut + 1)]
    expect(first.length).toBeGreaterThan(0)
    expect(cut < 0 ? printed : printed.slice(0, cut)).toEqual(first)
    expect(printed.slice(printed.length - last.length)).toEqual(last)
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
