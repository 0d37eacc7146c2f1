// `/source` of the admin server: who may read and save, and what each result of the editor becomes.
import { request as httpRequest } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { createLogger } from '../log/logger.ts'
import type { HttpListener } from './http-listener.ts'
import { startAdminServer } from './admin-server.ts'
import type { SaveResult, SourceEditor, SourceProblem } from './source-editing.ts'

const EDIT = { path: '/gw.yaml', etag: 'e', text: 'a: 1' }
const PROBLEM: SourceProblem = { file: '/gw.yaml', line: 2, column: 3, path: 'a', message: 'm', severity: 'error' }
const JSON_TYPE = { 'content-type': 'application/json' }

let server: HttpListener | undefined
const log: string[] = []

afterEach(async () => {
  await server?.close()
  server = undefined
  log.length = 0
})

interface Given {
  readonly isAllowed?: boolean
  readonly hasEditor?: boolean
  readonly result?: SaveResult
}

async function start({ isAllowed = true, hasEditor = true, result = { kind: 'changed' } }: Given = {}) {
  const loggers = createLogger({
    format: 'text',
    filter: { defaultLevel: 'info', modules: new Map() },
    write: (line) => log.push(line),
  })
  const editor: SourceEditor = {
    read: () => Promise.resolve([{ path: '/gw.yaml', etag: 'e', text: 'a: 1' }]),
    check: () => Promise.resolve([PROBLEM]),
    save: () => Promise.resolve(result),
  }
  server = await startAdminServer(
    { host: '127.0.0.1', port: 0 },
    {
      loggers,
      needsToken: false,
      configDump: () => ({}),
      memory: () => ({}),
      effectivePolicies: () => Promise.resolve(undefined),
      limits: () => ({}),
      modelUsage: () => ({}),
      modelPrices: () => ({}),
      overview: () => ({}),
      traffic: () => ({}),
      edits: { isAllowed, editor: () => (hasEditor ? editor : undefined), log: loggers.module('admin') },
      shutdown: () => undefined,
    },
  )
  return server.port
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const call = httpRequest({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    call.on('error', reject).end(body)
  })
}

const save = (port: number, body = JSON.stringify(EDIT), headers: Record<string, string> = {}) =>
  ask(port, '/source/save', { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body })

describe('/source', () => {
  it('has the files', async () => {
    const { status, text } = await ask(await start(), '/source')
    expect([status, JSON.parse(text)]).toEqual([200, { files: [{ path: '/gw.yaml', etag: 'e', text: 'a: 1' }] }])
  })

  it('is closed unless UI_EDITS is set, and where no file configures the proxy', async () => {
    const closed = await start({ isAllowed: false })
    for (const { status, text } of [await ask(closed, '/source'), await save(closed)]) {
      expect([status, text]).toEqual([403, expect.stringContaining('set UI_EDITS=true')])
    }
    await server?.close()
    expect((await ask(await start({ hasEditor: false }), '/source')).status).toBe(404)
  })

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://localhost:3000' },
    { origin: 'https://evil.example' },
    { host: 'evil.example' },
  ])('is closed for pages with %j', async (headers) => {
    const port = await start({ result: { kind: 'saved', etag: 'n', problems: [] } })
    expect((await ask(port, '/source', { headers })).status).toBe(403)
    expect((await save(port, undefined, headers)).status).toBe(403)
  })

  it('takes only an edit in JSON', async () => {
    const port = await start()
    expect((await save(port, JSON.stringify(EDIT), { 'content-type': 'text/plain' })).status).toBe(415)
    for (const body of ['', '[]', '{"path": "a", "etag": "e"}', '{"path": 1, "etag": "e", "text": ""}']) {
      expect((await save(port, body)).status).toBe(400)
    }
    expect((await save(port, JSON.stringify({ ...EDIT, text: 'x'.repeat(4 * 1024 * 1024) }))).status).toBe(413)
    expect((await ask(port, '/source/save')).status).toBe(405)
  })
})

describe('/source/check', () => {
  it('has the problems', async () => {
    const { text } = await ask(await start(), '/source/check', {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(EDIT),
    })
    expect(JSON.parse(text)).toEqual({ problems: [PROBLEM] })
  })
})

describe('/source/save', () => {
  it.each([
    [{ kind: 'saved', etag: 'n', problems: [] }, 200, '"etag": "n"'],
    [{ kind: 'saved', etag: 'n', problems: [], reason: 'r' }, 200, '"reason": "r"'],
    [{ kind: 'changed' }, 409, 'the file has changed since you opened it'],
    [{ kind: 'invalid', problems: [PROBLEM] }, 422, '"line":2'],
    [{ kind: 'failed', message: 'no space' }, 500, 'no space'],
  ] as const)('for the result %j', async (result, status, text) => {
    const answer = await save(await start({ result: { ...result } as SaveResult }))
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
  })

  it('is in the log, without the text', async () => {
    await save(await start({ result: { kind: 'saved', etag: 'n', problems: [] } }))
    expect(log.join('')).toMatch(/the web UI has changed a file.*\/gw\.yaml/)
    expect(log.join('')).not.toContain('a: 1')
  })
})
