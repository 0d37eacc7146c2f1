// MCP sessions belong to the client that opened them: others with valid credentials cannot use, read or
// end them. Logs do not contain ids.
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { configFor, ON_LOOPBACK } from '#proxy/main.testing.ts'
import { until } from '#test/wait.ts'
import { type RunningProxy, startProxy } from '../../main.ts'
import { shownSessionId } from './session-id.ts'

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const INIT = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} },
}
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' }
const seen: string[] = []
const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-owner-'))
const logFile = join(folder, 'log')
let server: Server
let proxy: RunningProxy
let url: string
let restart: () => Promise<void>

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      seen.push(`${request.method} ${String(request.headers['mcp-session-id'])}`)
      if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hi\n\n')
      else if (request.method === 'DELETE') response.end()
      else {
        const { id } = JSON.parse(text) as { id: number } // sent by this test
        response.setHeader('content-type', 'application/json')
        response.setHeader('mcp-session-id', 'server-session')
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
      }
    })
  })
  const upstream = await listening(server)
  const port = await freePort()
  url = `http://127.0.0.1:${port}/mcp`
  const config = configFor(port, {
    routes: [
      { name: 'server', prefix: '/unused', backend: { static: { host: '127.0.0.1', port: upstream } } },
      {
        name: 'mcp',
        prefix: '/mcp',
        backend: {
          mcp: {
            targets: [{ name: 'a', ref: { backend: 'ns/server' } }],
            sessionRouting: 'Stateful',
            prefixMode: 'Conditional',
            failureMode: 'FailClosed',
          },
        },
        inline: {
          apiKeyAuthentication: { mode: 'Strict', keys: ['ann', 'bob'].map((name) => ({ secret: `ns/${name}/k` })) },
        },
      },
    ],
    policies: [
      {
        key: 'log',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'log' },
        target: { gateway: { namespace: 'ns', name: 'gw' } },
        policy: {
          frontend: {
            accessLog: {
              add: [
                { name: 'own.request', expression: 'request.headers["mcp-session-id"]' },
                { name: 'own.response', expression: 'response.headers["mcp-session-id"]' },
                { name: 'own.mcp', expression: 'mcp.sessionId' },
              ],
            },
          },
        },
      },
    ],
  })
  const secrets = {
    version: 1 as const,
    secrets: ['ann', 'bob'].map((name) => ({ key: `ns/${name}/k`, value: `key-of-${name}` })),
  }
  const start = async (): Promise<void> => {
    proxy = await startProxy({
      ...ON_LOOPBACK,
      workers: 2,
      logFd: openSync(logFile, 'a'),
      accessLog: true,
      logLevel: 'trace',
    })
    const applied = await proxy.apply(config, secrets)
    if ('problem' in applied) throw new Error(applied.problem.message)
  }
  restart = async () => {
    await proxy.stop({ isForced: true })
    await start()
  }
  await start()
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  closeServer(server)
  rmSync(folder, { recursive: true })
})

interface Asked {
  readonly as: 'ann' | 'bob'
  readonly session?: string
  readonly method?: string
  readonly body?: object
}

async function ask({ as, session, method = 'POST', body }: Asked): Promise<Response> {
  const headers = {
    ...HEADERS,
    authorization: `Bearer key-of-${as}`,
    ...(session !== undefined && { 'mcp-session-id': session }),
  }
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  await response.text()
  return response
}

async function open(as: 'ann' | 'bob'): Promise<string> {
  const response = await ask({ as, body: INIT })
  expect(response.status).toBe(200)
  return response.headers.get('mcp-session-id') ?? ''
}

it.each([
  ['calls', { method: 'POST', body: PING }, 200],
  ['listens', { method: 'GET' }, 200],
  ['deletes', { method: 'DELETE' }, 202],
])('another user that %s gets 404, and the server gets nothing', async (_, message, status) => {
  const session = await open('ann')
  seen.length = 0
  expect((await ask({ as: 'bob', session, ...message })).status).toBe(404)
  expect(seen).toEqual([])
  // On any worker.
  for (let i = 0; i < 4; i++) expect((await ask({ as: 'ann', session, ...message })).status).toBe(status)
  expect(seen).toEqual(Array.from({ length: 4 }, () => `${message.method} server-session`))
})

it('ids are sealed without a key of the configuration, and end with the process', async () => {
  const session = await open('ann')
  expect(Buffer.from(session, 'base64url').toString('latin1')).not.toContain('server-session')
  await restart()
  expect((await ask({ as: 'ann', session, body: PING })).status).toBe(404)
})

it('logs show the digest of an id', async () => {
  const session = await open('ann')
  await ask({ as: 'ann', session, body: PING })
  const shown = `mcp.session.id=${shownSessionId(session)}`
  await until('the line is written', () => readFileSync(logFile, 'utf8').includes(shown))
  const log = readFileSync(logFile, 'utf8')
  expect(log).not.toContain(session)
  expect(log).toContain(`own.mcp=${shownSessionId(session)}`)
  expect(log).toContain('own.request=<redacted>')
  expect(log).toContain('own.response=<redacted>')
})
