// Admin, metrics and readiness servers over real sockets.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { adminTokenFile } from '#api/admin/token-file.ts'
import type { LoggerRoot } from '../log/logger.ts'
import { createLogger } from '../log/logger.ts'
import { startAdminServer } from './admin-server.ts'
import type { HttpListener } from './http-listener.ts'
import { startReadinessServer } from './readiness-server.ts'
import { startStatsServer } from './stats-server.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }
const PARTS = {
  configDump: () => ({}),
  memory: () => ({}),
  limits: () => ({}),
  modelUsage: () => ({}),
  modelPrices: () => ({ models: [] }),
  overview: () => ({ routes: 1 }),
  traffic: () => ({}),
  effectivePolicies: async () => ({}),
  shutdown: () => undefined,
}
const open: HttpListener[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** fetch cannot set the Host header. */
function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, ...options }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }))
    })
    request.on('error', reject)
    request.end()
  })
}

/** Without the web UI: `uiFolder` names one that does not exist. */
async function admin(
  needsToken = false,
  uiFolder = new URL('./none/', import.meta.url),
): Promise<{ port: number; loggers: LoggerRoot; shutdowns: () => number }> {
  const loggers = createLogger({
    format: 'text',
    filter: { defaultLevel: 'info', modules: new Map() },
    write: () => undefined,
  })
  let shutdowns = 0
  const server = await startAdminServer(LOOPBACK, {
    loggers,
    needsToken,
    uiFolder,
    configDump: () => ({ binds: [] }),
    memory: () => {
      throw new Error('no memory report')
    },
    limits: () => ({ omitted: 0 }),
    modelUsage: (sinceMs) => ({ sinceMs }),
    modelPrices: () => ({ models: [], omitted: 2 }),
    overview: () => ({ routes: 1 }),
    traffic: () => ({ requests: [3] }),
    effectivePolicies: (route) => Promise.resolve(route === 'ns/a b' ? { route } : undefined),
    shutdown: () => shutdowns++,
  })
  open.push(server)
  return { port: server.port, loggers, shutdowns: () => shutdowns }
}

describe('admin server', () => {
  it('answers /config_dump as pretty JSON', async () => {
    const { port } = await admin()
    const answer = await ask(port, '/config_dump')
    expect(answer).toMatchObject({ status: 200, body: '{\n  "binds": []\n}\n' })
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
    expect((await ask(port, '/config_dump', { method: 'POST' })).status).toBe(405)
  })

  it('answers /traffic as JSON', async () => {
    const { port } = await admin()
    expect(JSON.parse((await ask(port, '/traffic')).body)).toEqual({ requests: [3] })
  })

  it('answers /overview as JSON', async () => {
    const { port } = await admin()
    expect(JSON.parse((await ask(port, '/overview')).body)).toEqual({ routes: 1 })
  })

  it('indents /config_dump unless asked for the compact form', async () => {
    const { port } = await admin()
    expect((await ask(port, '/config_dump')).body).toBe('{\n  "binds": []\n}\n')
    expect((await ask(port, '/config_dump?compact')).body).toBe('{"binds":[]}\n')
  })

  it('answers /limits as JSON', async () => {
    const { port } = await admin()
    expect(JSON.parse((await ask(port, '/limits')).body)).toEqual({ omitted: 0 })
  })

  it('answers /model_usage since a time, and since the start without one', async () => {
    const { port } = await admin()
    const usage = async (query: string) => JSON.parse((await ask(port, `/model_usage${query}`)).body)
    expect(await usage('')).toEqual({})
    expect(await usage('?since=1970-01-02T00:00:00Z')).toEqual({ sinceMs: 86_400_000 })
    expect(await ask(port, '/model_usage?since=yesterday')).toMatchObject({
      status: 400,
      body: expect.stringMatching(/^since: must be/),
    })
  })

  it('answers /model_prices as JSON', async () => {
    const { port } = await admin()
    expect(JSON.parse((await ask(port, '/model_prices')).body)).toEqual({ models: [], omitted: 2 })
  })

  it('answers /effective_policies for the key of a rule', async () => {
    const { port } = await admin()
    const found = await ask(port, '/effective_policies?route=ns%2Fa+b')
    expect([found.status, JSON.parse(found.body)]).toEqual([200, { route: 'ns/a b' }])
    expect((await ask(port, '/effective_policies?route=ns%2Fb')).status).toBe(404)
    expect((await ask(port, '/effective_policies')).status).toBe(404)
  })

  it('reads and changes log levels', async () => {
    const { port, loggers } = await admin()
    const read = 'current log level is info\n'
    expect(await ask(port, '/logging')).toMatchObject({ status: 200, body: read })
    expect(await ask(port, '/logging', { method: 'POST' })).toMatchObject({ status: 200, body: read })
    expect((await ask(port, '/logging?level=debug')).status).toBe(400)
    expect(loggers.directive).toBe('info')
    const changed = await ask(port, '/logging?level=router%3Ddebug', { method: 'POST' })
    expect(changed.body).toBe('current log level is info,router=debug\n')
    expect((await ask(port, '/logging?level=warn', { method: 'POST' })).body).toContain('warn,router=debug')
    expect((await ask(port, '/logging?level=off', { method: 'POST' })).body).toContain('off,router=debug')
    await ask(port, '/logging?level=warn', { method: 'POST' })
    const refused = await ask(port, '/logging?reset&level=loud', { method: 'POST' })
    expect(refused.status).toBe(400)
    expect(refused.body).toContain('"loud" is not a log level\nusage: level=')
    expect(loggers.directive).toBe('warn,router=debug')
    expect((await ask(port, '/logging?level=a=trace&reset=1', { method: 'POST' })).body).toContain('info,a=trace')
    expect((await ask(port, '/logging?reset', { method: 'POST' })).body).toBe(read)
  })

  it('shuts down on POST only, and not for pages of other sites', async () => {
    const { port, shutdowns } = await admin()
    expect(await ask(port, '/quitquitquit')).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    const crossSite = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }
    expect((await ask(port, '/quitquitquit', crossSite)).status).toBe(403)
    const foreign = { method: 'POST', headers: { origin: 'https://evil.example' } }
    expect((await ask(port, '/quitquitquit', foreign)).status).toBe(403)
    expect((await ask(port, '/logging?level=trace', foreign)).status).toBe(403)
    expect(shutdowns()).toBe(0)
    expect(await ask(port, '/quitquitquit', { method: 'POST' })).toMatchObject({ status: 200, body: 'shutdown now\n' })
    expect(shutdowns()).toBe(1)
  })

  it('has a page of its own at /, without scripts, and at /ui where the web UI was not built', async () => {
    const { port } = await admin()
    const page = await ask(port, '/')
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
    for (const path of ['/config_dump', '/logging', '/memory', '/debug/trace']) expect(page.body).toContain(path)
    expect(page.body).not.toContain('<script')
    const note = '<p>The web UI is not built in this clone: run <code>make ui</code>, and load the page again.</p>\n'
    expect(page.body).not.toContain(note)
    for (const path of ['/ui', '/ui/']) expect((await ask(port, path)).body.replace(note, '')).toBe(page.body)
    for (const path of ['/ui', '/ui/']) expect((await ask(port, path)).body).toContain(note)
    expect(await ask(port, '/', { method: 'POST' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  it('serves the web UI, which may load nothing from elsewhere', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-ui-'))
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), '<p>the UI')
    writeFileSync(join(folder, 'assets/app.js'), 'run()')
    const { port } = await admin(true, pathToFileURL(`${folder}/`))
    expect(await ask(port, '/ui')).toMatchObject({ status: 308, headers: { location: 'ui/' } })
    const page = await ask(port, '/ui/')
    expect(page).toMatchObject({ status: 200, body: '<p>the UI' })
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    const script = { status: 200, body: 'run()', headers: { 'content-type': 'text/javascript; charset=utf-8' } }
    expect(await ask(port, '/ui/assets/app.js')).toMatchObject(script)
    expect((await ask(port, '/ui/assets/..%2f..%2fsecret')).status).toBe(401)
    rmSync(folder, { recursive: true })
  })

  it('lets pages of this machine on the ports of the UI read answers and change levels', async () => {
    const { port, loggers } = await admin()
    const page = { origin: 'http://localhost:19000', 'sec-fetch-site': 'same-site' }
    const allowed = {
      'access-control-allow-origin': 'http://localhost:19000',
      'access-control-allow-credentials': 'true',
      vary: 'origin',
    }
    expect(await ask(port, '/config_dump', { headers: page })).toMatchObject({ status: 200, headers: allowed })
    const question = { ...page, 'access-control-request-method': 'POST' }
    expect(await ask(port, '/logging', { method: 'OPTIONS', headers: question })).toMatchObject({
      status: 204,
      body: '',
      headers: { ...allowed, 'access-control-allow-methods': 'GET, HEAD, POST' },
    })
    expect((await ask(port, '/logging?level=debug', { method: 'POST', headers: page })).status).toBe(200)
    expect(loggers.directive).toBe('debug')
    const other = { origin: 'http://localhost:3001', 'sec-fetch-site': 'same-site' }
    expect((await ask(port, '/logging', { method: 'OPTIONS', headers: other })).status).toBe(403)
    expect((await ask(port, '/config_dump', { headers: other })).headers).not.toHaveProperty(
      'access-control-allow-origin',
    )
  })

  it('refuses host names that are not this machine', async () => {
    const { port } = await admin()
    expect((await ask(port, '/config_dump', { headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await ask(port, '/config_dump', { headers: { host: `localhost:${port}` } })).status).toBe(200)
  })

  it('lists its paths where there is nothing, and survives failing handlers', async () => {
    const { port } = await admin()
    const answer = await ask(port, '/nowhere')
    expect(answer.status).toBe(404)
    for (const path of ['/config_dump', '/logging', '/memory', '/quitquitquit']) expect(answer.body).toContain(path)
    expect(await ask(port, '/memory')).toMatchObject({ status: 500, body: 'internal error\n' })
    expect((await ask(port, '/config_dump?%zz&&=')).status).toBe(200)
  })

  it('listens on both loopback addresses for localhost', async () => {
    const loggers = createLogger({
      format: 'text',
      filter: { defaultLevel: 'info', modules: new Map() },
      write: () => 0,
    })
    const server = await startAdminServer({ host: 'localhost', port: 0 }, { ...PARTS, loggers, needsToken: false })
    open.push(server)
    expect((await ask(server.port, '/config_dump')).status).toBe(200)
  })
})

describe('admin server that needs a token', () => {
  const PATHS = [
    '/config_dump',
    '/logging',
    '/memory',
    '/traffic',
    '/model_prices',
    '/model_usage',
    '/limits',
    '/overview',
    '/nowhere',
    '/debug/trace',
    '//config_dump',
    '/config_dump?a',
  ]
  const CHANGES = ['/quitquitquit', '/logging?level=debug']

  it('is in a file that only the user of the process can read, and gone after the end', async () => {
    const { port } = await admin(true)
    const file = adminTokenFile(port)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/)
    await Promise.all(open.splice(0).map((server) => server.close()))
    expect(existsSync(file)).toBe(false)
  })

  it('shows and changes nothing without it, and says where it is', async () => {
    const { port, loggers, shutdowns } = await admin(true)
    const token = readFileSync(adminTokenFile(port), 'utf8').trim()
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer x',
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
    ]
    for (const authorization of [undefined, token, ...wrong]) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
      for (const path of PATHS) {
        const answer = await ask(port, path, { headers })
        expect([path, authorization, answer.status]).toEqual([path, authorization, 401])
        expect(answer.headers['www-authenticate']).toBe('Bearer')
        expect(answer.body).toContain(adminTokenFile(port))
        expect(answer.body).not.toContain(token)
      }
      for (const path of CHANGES) expect((await ask(port, path, { method: 'POST', headers })).status).toBe(401)
    }
    expect([shutdowns(), loggers.directive]).toEqual([0, 'info'])
  })

  it('serves those who have it', async () => {
    const { port, shutdowns } = await admin(true)
    const headers = { authorization: `Bearer ${readFileSync(adminTokenFile(port), 'utf8').trim()}` }
    expect((await ask(port, '/config_dump', { headers })).status).toBe(200)
    expect((await ask(port, '/nowhere', { headers })).status).toBe(404)
    expect((await ask(port, '/logging?level=debug', { method: 'POST', headers })).body).toContain('debug')
    expect((await ask(port, '/quitquitquit', { method: 'POST', headers })).status).toBe(200)
    expect(shutdowns()).toBe(1)
  })

  it('lists its paths for every client, and still rejects other origins', async () => {
    const { port } = await admin(true)
    expect((await ask(port, '/')).status).toBe(200)
    expect((await ask(port, '/ui/')).status).toBe(200)
    expect((await ask(port, '/', { headers: { host: 'evil.example' } })).status).toBe(403)
  })

  it('has another one after each start, and replaces what lies there', async () => {
    const first = await admin(true)
    const token = readFileSync(adminTokenFile(first.port), 'utf8')
    const [server] = open.splice(0)
    await server?.close()
    writeFileSync(adminTokenFile(first.port), 'old', { mode: 0o644 })
    open.push(await startOn(first.port))
    expect(readFileSync(adminTokenFile(first.port), 'utf8')).not.toBe(token)
    expect(statSync(adminTokenFile(first.port)).mode & 0o777).toBe(0o600)
  })

  it('removes the token of a killed process on its port if it needs none', async () => {
    const { port } = await admin(true)
    const left = readFileSync(adminTokenFile(port), 'utf8')
    const [server] = open.splice(0)
    await server?.close()
    writeFileSync(adminTokenFile(port), left)
    open.push(await startOn(port, { needsToken: false }))
    expect(existsSync(adminTokenFile(port))).toBe(false)
  })

  it('rejects all requests if the token file cannot be written, and logs the reason', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-admin-token-'))
    vi.stubEnv('TMPDIR', join(folder, 'absent'))
    const lines: string[] = []
    try {
      open.push(await startOn(0, { write: (line) => lines.push(line) }))
    } finally {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true })
    }
    expect(lines.join('')).toContain('cannot write the admin token')
    expect((await ask(open[0]?.port ?? 0, '/config_dump')).status).toBe(401)
  })
})

interface StartOptions {
  readonly write?: (line: string) => unknown
  readonly needsToken?: boolean
}

function startOn(
  port: number,
  { write = () => undefined, needsToken = true }: StartOptions = {},
): Promise<HttpListener> {
  const loggers = createLogger({ format: 'text', filter: { defaultLevel: 'info', modules: new Map() }, write })
  return startAdminServer({ ...LOOPBACK, port }, { ...PARTS, loggers, needsToken })
}

describe('metrics server', () => {
  it('serves the scrape on both paths and any method', async () => {
    const accepts: (string | undefined)[] = []
    const server = await startStatsServer(LOOPBACK, {
      scrape: (accept) => {
        accepts.push(accept)
        return Promise.resolve({ contentType: 'text/plain; version=0.0.4', body: 'x 1\n' })
      },
    })
    open.push(server)
    expect(await ask(server.port, '/metrics')).toMatchObject({ status: 200, body: 'x 1\n' })
    expect((await ask(server.port, '/stats/prometheus?a', { method: 'POST', headers: { accept: 'y' } })).status).toBe(
      200,
    )
    expect(accepts).toEqual([undefined, 'y'])
    expect((await ask(server.port, '/')).status).toBe(404)
  })

  it('answers 500 when the scrape fails', async () => {
    const server = await startStatsServer(LOOPBACK, { scrape: () => Promise.reject(new Error('x')) })
    open.push(server)
    expect((await ask(server.port, '/metrics')).status).toBe(500)
  })
})

describe('readiness server', () => {
  it('says what is pending and what was rejected', async () => {
    let readiness = { pending: ['proxy', 'configuration'], rejected: undefined as string | undefined }
    const server = await startReadinessServer(LOOPBACK, () => readiness)
    open.push(server)
    expect(await ask(server.port, '/healthz/ready')).toMatchObject({
      status: 500,
      body: 'not ready, pending: configuration, proxy\n',
    })
    readiness = { pending: [], rejected: undefined }
    expect(await ask(server.port, '/healthz/ready')).toMatchObject({ status: 200, body: 'ready\n' })
    readiness = { pending: [], rejected: 'bad bind' }
    expect((await ask(server.port, '/healthz/ready')).body).toBe('ready\nlast configuration rejected: bad bind\n')
    expect((await ask(server.port, '/healthz/ready', { method: 'POST' })).status).toBe(405)
    expect((await ask(server.port, '/healthz')).status).toBe(404)
  })
})
