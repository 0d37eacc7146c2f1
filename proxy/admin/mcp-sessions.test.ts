import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import { closeServer } from '#test/ports.ts'
import type { OpenSession } from '../exchange/open-sessions.ts'
import { testProxy, type TestProxy } from '../main.testing.ts'
import { shownSessionId } from '../mcp/legacy/session-id.ts'
import { legacyUpstream, mcpRoute, modernUpstream, type Upstream, upstreamRoute } from '../mcp/servers.testing.ts'
import { mcpSessions } from './mcp-sessions.ts'

type McpSessions = components['schemas']['McpSessions']

const session = (id: string, parts: Partial<OpenSession> = {}): OpenSession => ({
  id,
  scope: 'ns/gw ns/route ns/tools',
  servers: [
    { name: 'a', isModern: false, isSkipped: false },
    { name: 'b', isModern: true, isSkipped: false },
    { name: 'c', isModern: false, isSkipped: true },
  ],
  client: 't 1',
  openedMs: undefined,
  usedMs: 1000,
  busy: 0,
  ...parts,
})

describe('mcpSessions', () => {
  it('counts a session of two workers once, with what each of them knows', () => {
    const opened = session('x', { openedMs: 500, usedMs: 2000, busy: 1 })
    const { total, backends, sessions } = mcpSessions([
      { total: 2, sessions: [session('x', { usedMs: 3000, busy: 1, client: undefined }), session('y')] },
      { total: 1, sessions: [opened] },
    ])
    expect(total).toBe(2)
    expect(sessions.map(({ id, opened: at, used, busy, client }) => [id, at, used, busy, client])).toEqual([
      ['x', '1970-01-01T00:00:00.500Z', '1970-01-01T00:00:03.000Z', 2, 't 1'],
      ['y', null, '1970-01-01T00:00:01.000Z', 0, 't 1'],
    ])
    const place = { gateway: 'ns/gw', route: 'ns/route', backend: 'ns/tools' }
    const servers = [
      { name: 'a', legacy: 2, modern: 0 },
      { name: 'b', legacy: 0, modern: 2 },
      { name: 'c', legacy: 0, modern: 0 },
    ]
    expect(backends).toEqual([{ ...place, sessions: 2, servers }])
    expect(sessions[0]?.servers.map(({ era }) => era)).toEqual(['legacy', 'modern', null])
  })

  it('lists those used last, and reports that a worker has more', () => {
    const many = Array.from({ length: 300 }, (_, i) => session(`s${i}`, { usedMs: i }))
    const { sessions, total, isComplete } = mcpSessions([{ total: 5000, sessions: many }])
    expect([sessions.length, sessions[0]?.id, total, isComplete]).toEqual([200, 's299', 300, false])
  })
})

describe('/mcp_sessions', () => {
  let servers: readonly Upstream[]
  let gateway: TestProxy

  beforeAll(async () => {
    servers = [await legacyUpstream('old'), await modernUpstream('new')]
    gateway = await testProxy({ workers: 2, routes: [...servers.map(upstreamRoute), mcpRoute('two', servers)] })
  })

  afterAll(async () => {
    await gateway.stop()
    for (const { server } of servers) closeServer(server)
  })

  /** Each request has a connection of its own: the system chooses the worker. */
  const send = (method: string, headers: Record<string, string>, body?: object): Promise<Response> =>
    fetch(`${gateway.url}/two`, {
      method,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        connection: 'close',
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) }),
    })
  const read = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${gateway.proxy.ports.admin}/mcp_sessions`)).text()

  it('has a session with its servers, client and times until the client ends it, and never its id', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'tester', version: '7' } }
    const response = await send('POST', {}, { method: 'initialize', params })
    await response.text()
    const id = response.headers.get('mcp-session-id') ?? ''
    for (let i = 0; i < 8; i++) await (await send('POST', { 'mcp-session-id': id }, { method: 'ping' })).text()
    const text = await read()
    expect(text).not.toContain(id)
    const { total, isComplete, sessions, backends } = JSON.parse(text) as McpSessions
    expect([total, isComplete]).toEqual([1, true])
    expect(sessions).toMatchObject([
      {
        id: shownSessionId(id),
        client: 'tester 7',
        busy: 0,
        servers: [
          { name: 'old', era: 'legacy' },
          { name: 'new', era: 'modern' },
        ],
      },
    ])
    const { opened, used, backend } = sessions[0] ?? {}
    expect(Date.parse(used ?? '')).toBeGreaterThanOrEqual(Date.parse(opened ?? ''))
    expect(backends).toMatchObject([{ backend, sessions: 1, servers: [{ legacy: 1 }, { modern: 1 }] }])
    await send('DELETE', { 'mcp-session-id': id })
    await expect.poll(async () => (JSON.parse(await read()) as McpSessions).total).toBe(0)
  })
})
