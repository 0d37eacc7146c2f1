// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MCPBackend, StdioTarget } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { createStdioBridge, type StdioBridge } from './stdio-bridge.ts'

/** A small server: answers initialize, `pid`, `env`, and `die`; writes noise that is not a message. */
const SERVER = `
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
process.stdout.write('starting up\\n')
process.stderr.write('listening on stdin\\n')
const child = process.argv[2] === 'parent' && spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
if (process.argv[2] === 'broken') process.exit(2)
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
    say({ id, result })
  } else if (method === 'tools/call' && params.name === 'die') process.exit(3)
  else if (method === 'tools/call') {
    say({ method: 'notifications/message', params: { level: 'info', data: 'working' } })
    const text = params.name === 'flood' ? 'x'.repeat(params.arguments.characters) : params.name === 'child' ? String(child.pid) : params.name === 'pid' ? String(process.pid) : String(process.env[params.arguments.name])
    say({ id, result: { content: [{ type: 'text', text }] } })
  } else if (id !== undefined) say({ id, result: {} })
}
`

let folder: string
let bridge: StdioBridge
const logged: { readonly line: string; readonly command: string }[] = []
let gateway: TestProxy

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-test-'))
  const script = join(folder, 'server.mjs')
  writeFileSync(script, SERVER)
  bridge = await createStdioBridge({
    logged: (line, command) => logged.push({ line, command }),
    idleMs: 60_000,
  })
  gateway = await testProxy({
    workers: 2,
    routes: [
      route('mcp', { cmd: process.execPath, args: [script], env: { GIVEN: 'yes' } }),
      route('clear', { cmd: process.execPath, args: [script], env: { GIVEN: 'yes' }, clearEnv: true }),
      route('parent', { cmd: process.execPath, args: [script, 'parent'] }),
      route('broken', { cmd: process.execPath, args: [script, 'broken'] }),
      route('missing', { cmd: join(folder, 'no-such-program') }),
    ],
  })
  await gateway.proxy.apply(bridge.expose(gateway.config), { version: 1, secrets: [] })
})

afterAll(async () => {
  await gateway.stop()
  bridge.close()
  rmSync(folder, { recursive: true })
})

function route(name: string, stdio: StdioTarget): TestRoute {
  const mcp: MCPBackend = {
    targets: [{ name: 's', stdio }],
    sessionRouting: 'Stateful',
    prefixMode: 'Conditional',
    failureMode: 'FailClosed',
  }
  return { name, prefix: `/${name}`, backend: { mcp } }
}

async function connect(path: string): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 't', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(gateway.url + path))
  await client.connect(transport)
  return { client, transport }
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
  ((await client.callTool({ name, arguments: args })) as { content: { text: string }[] }).content[0]?.text // a text tool

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('stdio bridge', () => {
  it('starts a process for each session, reachable from every worker, and ends it with the session', async () => {
    const first = await connect('/mcp')
    const second = await connect('/mcp')
    const pids = [await call(first.client, 'pid'), await call(second.client, 'pid')].map(Number)
    expect(new Set(pids).size).toBe(2)
    for (let i = 0; i < 8; i++) expect(Number(await call(first.client, 'pid'))).toBe(pids[0])
    await first.transport.terminateSession()
    await expect.poll(() => isAlive(pids[0] ?? 0), { timeout: 5000 }).toBe(false)
    expect(isAlive(pids[1] ?? 0)).toBe(true)
    await second.transport.terminateSession()
    expect(logged[0]).toEqual({ line: 'listening on stdin', command: process.execPath })
    await first.client.close()
    await second.client.close()
  })

  it('passes the configured environment and no secrets of the proxy', async () => {
    process.env['GW_TEST_SECRET'] = 'hidden'
    const { client, transport } = await connect('/mcp')
    expect(await call(client, 'env', { name: 'GIVEN' })).toBe('yes')
    expect(await call(client, 'env', { name: 'GW_TEST_SECRET' })).toBe('undefined')
    await transport.terminateSession()
    await client.close()
    delete process.env['GW_TEST_SECRET']
  })

  it('passes only the configured environment with clearEnv', async () => {
    const { client, transport } = await connect('/clear')
    expect(await call(client, 'env', { name: 'GIVEN' })).toBe('yes')
    expect(await call(client, 'env', { name: 'PATH' })).toBe('undefined')
    await transport.terminateSession()
    await client.close()
  })

  it('ends the processes that a server started with the session', async () => {
    const { client, transport } = await connect('/parent')
    const child = Number(await call(client, 'child'))
    expect(isAlive(child)).toBe(true)
    await transport.terminateSession()
    await expect.poll(() => isAlive(child), { timeout: 5000 }).toBe(false)
    await client.close()
  })

  it('ends the processes that a server started when it dies', async () => {
    const { client } = await connect('/parent')
    const child = Number(await call(client, 'child'))
    await expect(call(client, 'die')).rejects.toThrow('could not be called')
    await expect.poll(() => isAlive(child), { timeout: 5000 }).toBe(false)
    await client.close()
  })

  it('returns results larger than what a pipe holds', async () => {
    const { client, transport } = await connect('/mcp')
    expect(String(await call(client, 'flood', { characters: 1_900_000 }))).toHaveLength(1_900_000)
    await transport.terminateSession()
    await client.close()
  })

  it('does not start a command at once that keeps exiting', async () => {
    await expect(connect('/broken')).rejects.toThrow('exited (exit code 2)')
    await expect(connect('/broken')).rejects.toThrow('exited (exit code 2)')
    await expect(connect('/broken')).rejects.toThrow('keeps exiting; the next start is in 1 s')
  })

  it('fails the call when the process dies, and serves the next ones by a new process', async () => {
    const { client } = await connect('/mcp')
    await expect(call(client, 'die')).rejects.toThrow('could not be called')
    expect(Number(await call(client, 'pid'))).toBeGreaterThan(0)
    await client.close()
  })

  it('returns and logs an error if the program does not exist', async () => {
    logged.splice(0)
    const line = 'cannot be started: no such program; install it, or write its path'
    await expect(connect('/missing')).rejects.toThrow(line)
    expect(logged).toEqual([{ line, command: expect.any(String) }])
  })
})
