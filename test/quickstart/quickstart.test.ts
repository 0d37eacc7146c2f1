// The quickstart as a user runs it: real processes on the ports of the README, official SDKs as clients.
// @module-tag full
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Anthropic from '@anthropic-ai/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const URL_BASE = 'http://127.0.0.1:8080'
const READY_DEADLINE_MS = 60_000
const run = promisify(execFile)

let quickstart: ChildProcess
let output = ''

beforeAll(start, READY_DEADLINE_MS)

/** In its own process group, as a shell starts it. */
async function start(): Promise<void> {
  output = ''
  quickstart = spawn(process.execPath, [join(ROOT, 'hack', 'quickstart', 'main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const collect = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  quickstart.stdout?.on('data', collect)
  quickstart.stderr?.on('data', collect)
  await vi.waitUntil(() => output.includes('Gw is running'), { timeout: READY_DEADLINE_MS })
}

afterAll(async () => {
  if (quickstart.exitCode !== null) return
  // Its gateway has its own group, and ends when this process forwards the signal.
  quickstart.kill('SIGTERM')
  await once(quickstart, 'exit')
})

const json = async (path: string, init?: RequestInit): Promise<unknown> => (await fetch(URL_BASE + path, init)).json()
const question = [{ role: 'user' as const, content: 'hello there' }]

describe('quickstart', () => {
  it('/echo returns the request with the header that the route added', async () => {
    expect(await json('/echo?x=1')).toMatchObject({
      method: 'GET',
      path: '/echo?x=1',
      headers: { 'x-gw-demo': 'hello', host: '127.0.0.1:8080' },
    })
  })

  it.each(['/v1', '/claude/v1'])('%s/chat/completions serves the openai SDK, streaming and not', async (path) => {
    const client = new OpenAI({ baseURL: URL_BASE + path, apiKey: 'unused', maxRetries: 0 })
    const reply = await client.chat.completions.create({ model: 'fast', messages: question })
    expect(reply.choices[0]?.message.content).toBe('You said: hello there')
    expect(reply.model).toBe(path === '/v1' ? 'demo-small' : 'demo-large')
    expect(reply.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 })
    const stream = await client.chat.completions.create({ model: 'fast', messages: question, stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('You said: hello there')
  })

  it('/claude/v1/messages serves the Anthropic SDK, streaming and not', async () => {
    const client = new Anthropic({ baseURL: `${URL_BASE}/claude`, apiKey: 'unused', maxRetries: 0 })
    const request = { model: 'any', max_tokens: 64, messages: question }
    const reply = await client.messages.create(request)
    expect(reply.content).toEqual([{ type: 'text', text: 'You said: hello there' }])
    expect(await client.messages.stream(request).finalText()).toBe('You said: hello there')
  })

  it('/resilient answers by the next provider, masks an address, and logs both and the cost', async () => {
    const client = new OpenAI({ baseURL: `${URL_BASE}/resilient/v1`, apiKey: 'unused', maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'write to alice@example.com' }]
    const reply = await client.chat.completions.create({ model: 'any', messages })
    expect(reply.choices[0]?.message.content).toBe('You said: write to <EMAIL_ADDRESS>')
    const line = () => output.split('\n').find((text) => text.includes('route_rule=resilient'))
    await vi.waitUntil(() => line() !== undefined)
    expect(line()).toContain('gw.ai.usage.cost.total=0.000084')
    expect(line()).toContain(
      'gw.ai.failed_providers="overloaded: status 503" gw.ai.guards="Request regex Mask (Email)"',
    )
    expect(line()).not.toContain('alice')
  })

  it('/mcp serves the MCP SDK: initialize, tools/list, tools/call', async () => {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(`${URL_BASE}/mcp`))
    await client.connect(transport)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'add', 'upper'])
    const result = await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } })
    expect(result.content).toEqual([{ type: 'text', text: '42' }])
    await transport.terminateSession()
    await client.close()
  })

  it('/admin-only is rejected by the CEL rule, except for the role in it', async () => {
    const refused = await fetch(`${URL_BASE}/admin-only`)
    expect(refused.status).toBe(403)
    expect(await refused.text()).toBe('authorization failed')
    const allowed = await fetch(`${URL_BASE}/admin-only`, { headers: { 'x-role': 'admin' } })
    await allowed.text()
    expect(allowed.status).toBe(200)
  })

  it('/limited accepts five requests a minute', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) {
      const reply = await fetch(`${URL_BASE}/limited`)
      await reply.text()
      statuses.push(reply.status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  })

  it('https://localhost:8443/members requires a token of the issuer, and sends the name of the user to the upstream', async () => {
    expect(output).toContain('gw: fetched the keys of http://127.0.0.1:18084/keys')
    expect(output).not.toContain('warning:')
    const members = async (...args: readonly string[]): Promise<string> => {
      const authority = ['--cacert', join(ROOT, 'config/samples/quickstart/localhost.pem')]
      const end = ['-w', ' %{http_code}', 'https://localhost:8443/members']
      return (await run('curl', ['-s', '--max-time', '10', ...authority, ...args, ...end])).stdout
    }
    expect(await members()).toBe('authentication failure: no token found 401')
    const token = await (await fetch('http://127.0.0.1:18084/token')).text()
    await vi.waitUntil(async () => (await members('-H', `authorization: Bearer ${token}`)).endsWith(' 200'))
    const answer = await members('-H', `authorization: Bearer ${token}`)
    expect(answer).toContain('"x-user": "alice"')
    expect(answer).not.toContain(token)
    expect(await members('-H', `authorization: Bearer ${token.slice(0, -4)}AAAA`)).toMatch(/ 401$/)
  })

  it('the trace shows the steps of one request', async () => {
    const args = ['proxy', 'trace', '--local', '--port', '8080', '--', `${URL_BASE}/admin-only`]
    const { stdout } = await run(join(ROOT, 'bin', 'gw'), args)
    expect(stdout).toMatch(/Route +selected default\/http\.01\.http/)
    expect(stdout).toMatch(/CEL +request\.headers\["x-role"\] == "admin" => error: no such key: x-role/)
    expect(stdout).toMatch(/Request Done +request finished status=403/)
  })

  it('shows requests in log and metrics, tokens included, and the configuration without secrets', async () => {
    expect(output).toMatch(/http\.path=\/claude\/v1\/messages .*gen_ai\.provider\.name=anthropic .*output_tokens=4/)
    const metrics = await (await fetch('http://127.0.0.1:15020/metrics')).text()
    expect(metrics).toContain('gw_requests_total{')
    expect(metrics).toContain('gw_gen_ai_client_token_usage')
    const dump = await (await fetch('http://127.0.0.1:15000/config_dump')).text()
    expect(JSON.parse(dump)).toMatchObject({
      binds: [{ key: '8080/default/quickstart' }, { key: '8443/default/quickstart' }],
    })
    expect(dump).not.toContain('PRIVATE KEY')
    for (const secret of ['demo-completions-key', 'demo-messages-key']) {
      expect(dump).not.toContain(secret)
      expect(output).not.toContain(secret)
    }
    expect(await (await fetch('http://127.0.0.1:15021/healthz/ready')).text()).toBe('ready\n')
  })

  it('reports the port in use, and exits', async () => {
    const second = spawn(process.execPath, [join(ROOT, 'hack', 'quickstart', 'main.ts')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errors = ''
    second.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString()
    })
    const [code] = await once(second, 'exit')
    expect(code).toBe(1)
    expect(errors).toMatch(/127\.0\.0\.1:18081/)
  })

  it.each([
    ['Ctrl-C, which a terminal sends to the whole group', 'SIGINT', -1],
    ['SIGINT to its first process', 'SIGINT', 1],
    ['SIGTERM', 'SIGTERM', 1],
  ] as const)(
    'ends every process on %s',
    async (_, signal, sign) => {
      if (quickstart.exitCode !== null) await start()
      const exited = once(quickstart, 'exit')
      process.kill(sign * (quickstart.pid ?? NaN), signal)
      expect(await exited).toEqual([0, null])
      for (const port of [8080, 8443, 15_000, 15_020, 15_021, 18_081, 18_082, 18_083, 18_084]) {
        await expect(fetch(`http://127.0.0.1:${port}/`), `port ${port}`).rejects.toThrow('fetch failed')
      }
    },
    READY_DEADLINE_MS,
  )
})
