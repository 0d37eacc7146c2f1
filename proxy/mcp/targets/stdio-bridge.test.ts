import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { createStdioBridge, type StdioBridge } from './stdio-bridge.ts'

/** A small server: answers initialize, `pid`, `env`, and `die`; writes noise that is not a message. */
const SERVER = `
import { createInterface } from 'node:readline'
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
process.stdout.write('starting up\\n')
process.stderr.write('listening on stdin\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
    say({ id, result })
  } else if (method === 'tools/call' && params.name === 'die') process.exit(3)
  else if (method === 'tools/call') {
    say({ method: 'notifications/message', params: { level: 'info', data: 'working' } })
    const text = params.name === 'pid' ? String(process.pid) : String(process.env[params.arguments.name])
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
  bridge = await createStdioBridge((line, command) => logged.push({ line, command }))
  gateway = await testProxy({
    workers: 2,
    routes: [
      {
        name: 'tools',
        prefix: '/mcp',
        backend: {
          mcp: {
            targets: [{ name: 's', stdio: { cmd: process.execPath, args: [script], env: { GIVEN: 'yes' } } }],
            sessionRouting: 'Stateful',
            prefixMode: 'Conditional',
            failureMode: 'FailClosed',
          },
        },
      },
      {
        name: 'missing',
        prefix: '/missing',
        backend: {
          mcp: {
            targets: [{ name: 'm', stdio: { cmd: join(folder, 'no-such-program') } }],
            sessionRouting: 'Stateful',
            prefixMode: 'Conditional',
            failureMode: 'FailClosed',
          },
        },
      },
    ],
  })
  await gateway.proxy.apply(bridge.expose(gateway.config), { version: 1, secrets: [] })
})

afterAll(async () => {
  await gateway.stop()
  bridge.close()
  rmSync(folder, { recursive: true })
})

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

  it('fails the call when the process dies, and the session with it', async () => {
    const { client } = await connect('/mcp')
    await expect(call(client, 'die')).rejects.toThrow('could not be called')
    await expect(call(client, 'pid')).rejects.toMatchObject({ code: 404 })
    await client.close()
  })

  it('returns an error if the program does not exist', async () => {
    await expect(connect('/missing')).rejects.toThrow('cannot be started')
  })
})
