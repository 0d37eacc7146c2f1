// Sessions of processes over stdio: which of them end, and which message of a process belongs to which call.
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RenderedConfig, StdioTarget } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { createStdioBridge, type StdioBridge } from './stdio-bridge.ts'

/** Writes its process id to a file. Answers `initialize` as its first argument says. */
const SERVER = `
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const [mode, file] = process.argv.slice(2)
if (mode === 'stubborn') process.on('SIGTERM', () => {})
writeFileSync(file, String(process.pid))
let release = () => {}
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
    if (mode === 'rejects') say({ id, error: { code: -32000, message: 'no' } })
    else if (mode !== 'hangs') say({ id, result })
  } else if (method === 'release') {
    release()
  } else if (method === 'tools/call') {
    const { progressToken } = params._meta ?? {}
    if (progressToken !== undefined) say({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } })
    const { characters = 1, ms = 0, text = '', rows = 0, isHeld = false } = params.arguments
    const structuredContent = { rows: Array.from({ length: rows }, () => ({})) }
    const answer = () => say({ id, result: { structuredContent, content: [{ type: 'text', text: 'x'.repeat(characters) + text.length }] } })
    if (isHeld) release = answer
    else if (ms > 0) setTimeout(answer, ms)
    else answer()
  } else if (id !== undefined) say({ id, result: { tools: [] } })
}
`
const IDLE_MS = 1500
const folder = mkdtempSync(join(tmpdir(), 'gw-test-'))
const script = join(folder, 'server.mjs')
const logged: string[] = []
let bridge: StdioBridge
/** Its sessions do not end in the time of a test. */
let patient: StdioBridge
let gateway: TestProxy
let exposed: { readonly impatient: RenderedConfig; readonly patient: RenderedConfig }

beforeAll(async () => {
  writeFileSync(script, SERVER)
  bridge = await createStdioBridge({ logged: (line) => logged.push(line), idleMs: IDLE_MS })
  gateway = await testProxy({
    workers: 1,
    routes: [
      route('serves'),
      route('hangs'),
      route('rejects'),
      route('stubborn'),
      route('two', ['serves', 'serves']),
      route('idle', ['serves']),
    ],
  })
  patient = await createStdioBridge({ logged: () => {}, idleMs: 60_000 })
  exposed = { impatient: bridge.expose(gateway.config), patient: patient.expose(gateway.config) }
  await gateway.proxy.apply(exposed.impatient, { version: 1, secrets: [] })
})

afterAll(async () => {
  await gateway.stop()
  bridge.close()
  patient.close()
  rmSync(folder, { recursive: true })
})

function route(name: string, modes: readonly string[] = [name]): TestRoute {
  const targets = modes.map((mode, index) => {
    const stdio: StdioTarget = { cmd: process.execPath, args: [script, mode, join(folder, `${name}${index}`)] }
    return { name: `s${index}`, stdio }
  })
  const settings = { sessionRouting: 'Stateful', prefixMode: 'Conditional', failureMode: 'FailClosed' } as const
  // As long as a process may take to answer `initialize`.
  const inlinePolicies = name === 'hangs' ? { http: { requestTimeoutMs: 3000 } } : {}
  return { name, prefix: `/${name}`, backend: { mcp: { targets, ...settings }, inlinePolicies } }
}

async function isRunning(name: string): Promise<boolean> {
  const pid = Number(await readFile(join(folder, `${name}0`), 'utf8').catch(() => ''))
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

async function connect(name: string, onProgress: (progress: number) => void = () => {}) {
  const client = new Client({ name: 't', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/${name}`))
  await client.connect(transport)
  const call = async (tool: string, args: Record<string, unknown>): Promise<unknown> => {
    const params = { name: tool, arguments: args }
    const { content } = await client.callTool(params, CallToolResultSchema, {
      onprogress: ({ progress }) => onProgress(progress),
    })
    // A tool of this test.
    return (content as { text: string }[])[0]?.text
  }
  return { client, transport, call }
}

describe('the process of a session that no client has ends', () => {
  it('if the client leaves before the response to initialize', async () => {
    const client = new AbortController()
    const request = fetch(`${gateway.url}/hangs`, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } }),
      signal: client.signal,
    }).catch(() => undefined)
    await until('the process runs', () => isRunning('hangs'))
    client.abort()
    expect(await request).toBeUndefined()
    await until('the process has ended', async () => !(await isRunning('hangs')))
  })

  it('if it ignores SIGTERM', async () => {
    const { client, transport, call } = await connect('stubborn')
    expect(await call('t', {})).toBe('x0')
    expect(await isRunning('stubborn')).toBe(true)
    await transport.terminateSession()
    await until('the process has ended', async () => !(await isRunning('stubborn')))
    await client.close()
  })

  it('if it rejects initialize', async () => {
    await expect(connect('rejects')).rejects.toThrow('could not be called')
    await until('the process has ended', async () => !(await isRunning('rejects')))
  })
})

describe('a process', () => {
  it('stays while a client listens or waits, and ends when no client uses it', async () => {
    const { client, call } = await connect('serves')
    expect(await call('t', { ms: IDLE_MS * 2 })).toBe('x0')
    // Another one, which no client uses from now on.
    await ofBridge('initialize', { protocolVersion: '2025-11-25' }, { route: 'idle' })
    await until('the other process has ended', async () => !(await isRunning('idle')))
    expect(await isRunning('serves')).toBe(true)
    await client.close()
    await until('the process has ended', async () => !(await isRunning('serves')))
  })

  it('returns 20 MiB, and gets 10 MiB', async () => {
    const { client, call } = await connect('serves')
    expect(await call('t', { characters: 20 * 2 ** 20 })).toHaveLength(20 * 2 ** 20 + 1)
    await client.close()
    const { session, text } = await ofBridge('initialize', { protocolVersion: '2025-11-25' })
    expect(text).toContain('protocolVersion')
    const answer = await ofBridge(
      'tools/call',
      { name: 't', arguments: { text: 'y'.repeat(10 * 2 ** 20) } },
      { session },
    )
    expect(answer.text).toContain(`x${10 * 2 ** 20}`)
  })

  it('fails a call with a result that is too complex, and serves the next one', async () => {
    logged.splice(0)
    const { client, call } = await connect('serves')
    await expect(call('t', { rows: 100_001 })).rejects.toThrow('could not be called')
    expect(logged).toEqual([expect.stringContaining('the JSON has more than 100000 objects, arrays and members')])
    expect(await call('t', { rows: 10 })).toBe('x0')
    await client.close()
  })

  it('reports progress on the stream of the call, also as one of several while the client listens', async () => {
    const seen: number[] = []
    const { client, call } = await connect('two', (progress) => void seen.push(progress))
    expect(await call('s1_t', { ms: 100 })).toBe('x0')
    expect(seen).toEqual([1])
    await client.close()
  })

  it('answers the first of two requests with the same id', async () => {
    const { session } = await ofBridge('initialize', { protocolVersion: '2025-11-25' })
    const begun = Promise.withResolvers<void>()
    const held = { name: 't', arguments: { isHeld: true } }
    const first = ofBridge('tools/call', held, { session, onHead: () => begun.resolve() })
    await begun.promise
    const second = ofBridge('tools/call', { name: 't', arguments: {} }, { session })
    await expect(second).rejects.toThrow('aborted')
    await ofBridge('release', {}, { session, id: undefined })
    expect((await first).text).toContain('x0')
  })
})

interface BridgeCall {
  readonly route?: string
  /** Its id. */
  readonly session?: string
  /** Of the message; undefined: a notification. */
  readonly id?: number | undefined
  /** When the head of the response has arrived. */
  readonly onHead?: () => void
}

/** A message as a worker sends it. */
function ofBridge(
  method: string,
  params: object,
  { route: name = 'serves', session, onHead = () => {}, ...message }: BridgeCall = {},
): Promise<{ readonly session: string; readonly text: string }> {
  const { backends } = name === 'idle' ? exposed.impatient : exposed.patient
  const target = backends.find(({ key }) => key.endsWith(`/${name}`))?.mcp?.targets[0]
  const socketPath = backends.find(({ static: to }) => to?.unixPath !== undefined)?.static?.unixPath ?? ''
  const headers = session === undefined ? {} : { 'mcp-session-id': session }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath, path: target?.path ?? '', method: 'POST', headers }, (response) => {
      onHead()
      const id = String(response.headers['mcp-session-id'])
      textOf(response).then((text) => resolve({ session: id, text }), reject)
    })
    request.on('error', reject)
    request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message, method, params }))
  })
}
