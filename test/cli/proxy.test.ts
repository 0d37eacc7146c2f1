// gw proxy config and gw proxy log as users run them: against a real proxy, and from a file.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Profile } from 'pprof-format'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { adminTokenFile } from '#api/admin/token-file.ts'
import { firstOf } from '#test/run/table.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { gw, GwProcess, ROOT, until } from './gw.ts'

let upstream: Server
let gateway: TestProxy
let folder: string
let local: string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-proxy-test-'))
  upstream = createServer((_, response) => response.end('ok'))
  const backend = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  gateway = await testProxy({
    routes: [{ name: 'all', prefix: '/', backend }],
    policies: [
      {
        key: 'traffic/ns/p',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'p' },
        target: { gateway: { namespace: 'ns', name: 'gw' } },
        policy: { traffic: { csrf: { additionalOrigins: [] } } },
      },
    ],
  })
  local = ['--local', `--admin-addr=127.0.0.1:${gateway.proxy.ports.admin}`]
  await (await fetch(gateway.url)).text()
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
  rmSync(folder, { recursive: true })
})

const CURE = 'check that a proxy runs there, or set --admin-addr'

describe('gw proxy config', () => {
  it('prints rate limits with what is left', async () => {
    const limit = { unit: 'Requests', tokensPerFill: 100, fillIntervalMs: 3_600_000, tokensMax: 100 } as const
    const limited = await testProxy({
      routes: [{ name: 'all', prefix: '/', backend: { static: { host: '127.0.0.1', port: 9 } } }],
      policies: [
        {
          key: 'traffic/ns/p:limits',
          name: { kind: 'GwPolicy', namespace: 'ns', name: 'p' },
          target: { gateway: { namespace: 'ns', name: 'gw' } },
          policy: { traffic: { rateLimit: { limits: [limit] } } },
        },
      ],
    })
    try {
      await (await fetch(limited.url)).text()
      const at = ['--local', `--admin-addr=127.0.0.1:${limited.proxy.ports.admin}`]
      const { code, stdout } = await gw('proxy', 'config', 'limits', ...at)
      expect(code).toBe(0)
      expect(stdout).toMatch(/^LIMIT +LEFT +REJECTED +REFILLED AT +POLICY +FIELD\n/)
      const row = /\n100 requests an hour +99 of 100 +0 +\S+Z +GwPolicy ns\/p +spec\.traffic\.rateLimit\.local\[0\]\n/
      expect(stdout).toMatch(row)
      const json = await gw('proxy', 'config', 'limits', ...at, '-o', 'json')
      expect(JSON.parse(json.stdout)).toMatchObject({ local: [{ remaining: 99, rejected: 0 }], global: [], omitted: 0 })
      const names = await gw('proxy', 'config', 'limits', ...at, '-o', 'name')
      expect(names.stdout).toBe('policy/traffic/ns/p:limits\n')
      const file = join(folder, 'limits.json')
      writeFileSync(file, json.stdout)
      expect((await gw('proxy', 'config', 'limits', '--file', file)).stdout).toMatch(row)
      const wrong = await gw('proxy', 'config', 'all', '--file', file)
      expect([wrong.code, wrong.stderr]).toEqual([1, `${file}: is not a configuration dump\n`])
    } finally {
      await limited.stop()
    }
  })

  it('hints that a proxy has no rate limits', async () => {
    expect((await gw('proxy', 'config', 'limits', ...local)).stderr).toBe('this proxy has no rate limits\n')
  })

  it('prints a summary of the active configuration', async () => {
    const { code, stdout } = await gw('proxy', 'config', 'all', ...local)
    expect(code).toBe(0)
    const rows = stdout.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, '|'))
    expect(rows).toContain('ADDRESS|GATEWAY|LISTENER|PROTOCOL|HOSTNAME|ROUTES')
    expect(rows).toContain(`127.0.0.1:${gateway.port}|ns/gw|http|HTTP|*|1`)
    expect(rows).toContain('all|ns|http|*|ns/all')
    expect(rows).toContain('ns/all|host')
    expect(rows).toContain('traffic/ns/p|traffic|csrf|Gateway ns/gw')
  })

  it('prints the whole dump, and reads a saved one', async () => {
    const json = await gw('proxy', 'config', 'all', ...local, '-o', 'json')
    const yaml = await gw('proxy', 'cfg', 'all', ...local, '-o', 'yaml')
    expect(Object.keys(parse(yaml.stdout))).toEqual(Object.keys(JSON.parse(json.stdout)))
    const file = join(folder, 'dump.json')
    writeFileSync(file, json.stdout)
    expect((await gw('proxy', 'config', 'all', '--file', file, '-o', 'json')).stdout).toBe(json.stdout)
  })

  it('lists endpoints', async () => {
    const { stdout } = await gw('proxy', 'config', 'backends', ...local)
    expect(stdout).toMatch(/^TYPE +NAME +NAMESPACE +ENDPOINT +HEALTH +REQUESTS +LATENCY\n/)
    expect(stdout).toMatch(/\nBackend +all +ns +127\.0\.0\.1:\d+ +1\.00 +1 +\d+\.\d\dms\n/)
    const rows = JSON.parse((await gw('proxy', 'config', 'be', ...local, '--all', '-o', 'json')).stdout)
    expect(rows).toEqual([expect.objectContaining({ type: 'Backend', name: 'all', requests: 1 })])
  })

  firstOf(1)<[string, RegExp]>([
    ['routes', /^ROUTE .* BACKENDS +MATCHES +POLICIES\nall .* \/\*\n$/],
    [
      'backends',
      /^TYPE .* LATENCY +PENDING +FAILURES +CONNECTIONS +EVICTIONS +LAST EVICTION\nBackend .*ms +0 +0 +\d(?: of \d+)?, \d idle +0\n$/,
    ],
    ['policies', /^POLICY .* TARGET +OBJECT\ntraffic\/ns\/p .* GwPolicy ns\/p\n$/],
    ['all', /MATCHES[^]*OBJECT/],
  ])('has more columns of %s with -o wide', async (part, expected) => {
    expect((await gw('proxy', 'config', part, ...local, '-o', 'wide')).stdout).toMatch(expected)
  })

  firstOf(1)([
    ['routes', 'route/ns/all\n'],
    ['backends', 'backend/ns/all\n'],
    ['policies', 'policy/traffic/ns/p\n'],
    ['all', 'route/ns/all\nbackend/ns/all\npolicy/traffic/ns/p\n'],
  ])('prints the names of %s with -o name', async (part, names) => {
    expect((await gw('proxy', 'config', part, ...local, '-o', 'name')).stdout).toBe(names)
  })

  it('prints the endpoints again after a change with --watch', { tags: ['full'] }, async () => {
    const watching = new GwProcess(['proxy', 'config', 'backends', ...local, '--watch'])
    await until('the first table', () => watching.stdout.includes('REQUESTS'))
    const requests = (): (string | undefined)[] =>
      Array.from(watching.stdout.matchAll(/1\.00 +(\d+)/g), ([, count]) => count)
    const [first] = requests()
    await (await fetch(gateway.url)).text()
    await until('the second table', () => requests().length > 1)
    expect(requests()).toEqual([first, String(Number(first) + 1)])
    watching.signal('SIGINT')
    await watching.ended
    const saved = await gw('proxy', 'config', 'all', '--watch', '--file', '-')
    expect([saved.code, saved.stderr]).toEqual([1, '--file shows a saved dump: omit --watch\n'])
  })

  it(
    'suggests --all if no endpoint had a request, and reports that there are no endpoints',
    { tags: ['full'] },
    async () => {
      const { stdout: json } = await gw('proxy', 'config', 'all', ...local, '-o', 'json')
      const file = join(folder, 'unused.json')
      writeFileSync(file, json.replaceAll(/"totalRequests": \d+/g, '"totalRequests": 0'))
      const unused = await gw('proxy', 'config', 'backends', '--file', file)
      expect([unused.code, unused.stderr]).toEqual([0, '1 endpoint received no request yet; --all shows it\n'])
      writeFileSync(file, JSON.stringify({ ...JSON.parse(json), backends: [], services: [] }))
      const none = await gw('proxy', 'config', 'backends', '--file', file)
      expect([none.code, none.stderr]).toEqual([0, 'this proxy has no backends\n'])
    },
  )

  it('reports mistakes', { tags: ['full'] }, async () => {
    const unusedPort = await freePort()
    const unreachable = await gw('proxy', 'config', 'all', '--local', `--admin-addr=127.0.0.1:${unusedPort}`)
    expect([unreachable.code, unreachable.stderr]).toEqual([
      1,
      `cannot reach the admin server 127.0.0.1:${unusedPort}: connect ECONNREFUSED 127.0.0.1:${unusedPort}; ${CURE}\n`,
    ])
    const file = join(folder, 'other.json')
    writeFileSync(file, '{"binds": []}')
    const other = await gw('proxy', 'config', 'all', '--file', file)
    expect([other.code, other.stderr]).toEqual([1, `${file}: is not a configuration dump\n`])
    const unknown = await new GwProcess(['proxy', 'config', 'all'], { KUBECONFIG: '', HOME: folder }).ended
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/^no cluster configured; .*; --local connects to a proxy on this machine\n$/),
    ])
  })
})

describe('gw proxy log', () => {
  it('shows and sets levels', async () => {
    expect((await gw('proxy', 'log', ...local)).stdout).toBe('current log level is error\n')
    expect((await gw('proxy', 'log', ...local, '--set', 'otlp=debug')).stdout).toBe(
      'current log level is error,otlp=debug\n',
    )
    expect((await gw('proxy', 'log', ...local, '--level', 'warn')).stdout).toContain('current log level is warn')
  })

  it.each([
    [['--level', 'loud'], '"loud" is not a level; use one of off, error, warn, info, debug, trace\n'],
    [['--set', 'debug'], '--set debug: must be module=level\n'],
    [['--set', 'a=debug', '--level', 'info'], expect.stringContaining('cannot be used with')],
  ])('rejects %j', { tags: ['full'] }, async (flags, problem) => {
    const { code, stderr } = await gw('proxy', 'log', ...local, ...flags)
    expect([code, stderr]).toEqual([1, problem])
  })
})

describe('gw proxy profile', () => {
  it.each([
    ['cpu', ['--seconds', '1'], 'sampling for 1 s'],
    ['heap', [], 'reading the heap'],
  ])('writes a %s profile', { tags: ['full'] }, async (kind, flags, note) => {
    const file = join(folder, `${kind}.pb`)
    const { code, stdout, stderr } = await gw('proxy', 'profile', kind, ...local, ...flags, '-o', file)
    expect([code, stdout, stderr]).toEqual([0, `${file}\n`, expect.stringContaining(note)])
    expect(Profile.decode(readFileSync(file)).sample.length).toBeGreaterThan(0)
  })

  it('reports mistakes', { tags: ['full'] }, async () => {
    const folderAsFile = await gw('proxy', 'profile', 'heap', ...local, '-o', folder)
    expect([folderAsFile.code, folderAsFile.stderr]).toEqual([1, expect.stringContaining('EISDIR')])
    const seconds = await gw('proxy', 'profile', 'cpu', ...local, '--seconds', '301')
    expect([seconds.code, seconds.stderr]).toEqual([1, expect.stringContaining('It must be an integer from 1 to 300.')])
  })
})

describe('gw ui', () => {
  it('serves the admin server of the proxy until a signal', { tags: ['full'] }, async () => {
    const command = new GwProcess(['ui', ...local, '--no-open'])
    await command.says('press Ctrl-C to stop')
    const [url = ''] = /http:\S+/.exec(command.stdout) ?? []
    const first = await fetch(url, { redirect: 'manual' })
    const [cookie = ''] = (first.headers.get('set-cookie') ?? '').split(';')
    const dump = await fetch(new URL('/config_dump', url), { headers: { cookie } })
    expect([first.status, dump.status, await dump.json()]).toEqual([
      303,
      200,
      expect.objectContaining({ version: expect.anything() }),
    ])
    command.signal('SIGINT')
    expect((await command.ended).code).toBe(0)
  })
})

describe('kubectl gw', () => {
  it('is the same command', { tags: ['full'] }, async () => {
    const { stdout } = await promisify(execFile)(join(ROOT, 'bin/kubectl-gw'), ['version'])
    expect(stdout).toBe((await gw('version')).stdout)
  })
})

describe('a proxy whose admin server requires a token', () => {
  let guarded: TestProxy
  let at: string[]

  beforeAll(async () => {
    const backend = { static: { host: '127.0.0.1', port: 1 } }
    guarded = await testProxy({ routes: [{ name: 'all', prefix: '/', backend }], settings: { servesTenants: true } })
    at = [`--admin-addr=127.0.0.1:${guarded.proxy.ports.admin}`]
  })
  afterAll(() => guarded.stop())

  it('is read with the token that it wrote on this machine', { tags: ['full'] }, async () => {
    const config = await gw('proxy', 'config', 'all', '--local', ...at)
    expect([config.code, config.stderr]).toEqual([0, ''])
    expect(config.stdout).toContain('ns/all')
    const log = await gw('proxy', 'log', '--local', ...at, '--level', 'warn')
    expect([log.code, log.stdout]).toEqual([0, 'current log level is warn\n'])
  })

  it('is read through a forwarded port with the token that gw proxy token prints', { tags: ['full'] }, async () => {
    const { code, stdout } = await gw('proxy', 'token', ...at)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^[\w-]{43}\n$/)])
    const forward = createTcpServer((socket) => {
      const onward = connect(guarded.proxy.ports.admin, '127.0.0.1')
      for (const one of [socket, onward]) one.on('error', () => undefined)
      socket.pipe(onward).pipe(socket)
    })
    const port = await listening(forward)
    try {
      const args = ['proxy', 'config', 'all', '--local', `--admin-addr=127.0.0.1:${port}`]
      const without = await gw(...args)
      expect([without.code, without.stdout]).toEqual([1, ''])
      expect(without.stderr).toContain(`returned 401: the admin server needs its token`)
      expect(without.stderr).toContain('`gw proxy token` prints it')
      const withToken = await new GwProcess(args, { GW_ADMIN_TOKEN: stdout.trim() }).ended
      expect([withToken.code, withToken.stderr]).toEqual([0, ''])
    } finally {
      forward.close()
    }
  })

  it('has no token for proxies that require none', { tags: ['full'] }, async () => {
    const { code, stderr } = await gw('proxy', 'token', `--admin-addr=127.0.0.1:${gateway.proxy.ports.admin}`)
    expect([code, stderr]).toEqual([1, expect.stringContaining('no proxy on this machine requires a token')])
  })
})

it('gw proxy serve checks addresses of backends, and requires a token at its admin server', async () => {
  const port = await freePort()
  const serve = new GwProcess(['proxy', 'serve', '--listen-address=127.0.0.1', `--mount=${folder}`], {
    NAMESPACE: 'shop',
    GATEWAY: 'web',
    POD_NAME: 'web-1',
    WORKER_THREADS: '1',
    KUBERNETES_SERVICE_HOST: '',
    ADMIN_ADDR: `127.0.0.1:${port}`,
    STATS_ADDR: '127.0.0.1:0',
    READINESS_ADDR: '127.0.0.1:0',
  })
  try {
    const file = adminTokenFile(port)
    await until('the token', () => existsSync(file))
    const dump = (init?: RequestInit): Promise<Response> => fetch(`http://127.0.0.1:${port}/config_dump`, init)
    expect((await dump()).status).toBe(401)
    const headers = { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` }
    const { config } = JSON.parse(await (await dump({ headers })).text())
    expect(config.servesTenants).toBe(true)
  } finally {
    await serve.stop()
    rmSync(adminTokenFile(port), { force: true })
  }
})
