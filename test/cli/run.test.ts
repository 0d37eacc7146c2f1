// gw run as a process: stdio MCP servers, signals, ports in use, hot reload under load. Real sockets, loopback only.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { ANY_PORTS, GwProcess, until } from './gw.ts'
import { firstOf } from '../run/table.ts'

const STDIO_SERVER = fileURLToPath(new URL('testdata/stdio-server.ts', import.meta.url))
const CLIENTS = 4
const REQUESTS_MIN = 500

let folder = ''
let processes: GwProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-run-test-'))
})

afterEach(async () => {
  for (const one of processes) await one.stop()
  processes = []
  rmSync(folder, { recursive: true, force: true })
})

function start(file: string, ...flags: readonly string[]): GwProcess {
  const one = new GwProcess(['run', '-f', file, ...ANY_PORTS, ...flags])
  processes.push(one)
  return one
}

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** A direct response with the name of its path. */
function answering(port: number, ...paths: readonly string[]): string {
  const routes = paths.map(
    (path) =>
      `  - matches: [{ path: { exact: ${path} } }]\n    policies: { directResponse: { status: 200, body: ${path} } }\n`,
  )
  return `gateways: { default: { port: ${port} } }\nroutes:\n${routes.join('')}`
}

describe('gw run', () => {
  it('serves a stdio MCP server, and ends it and itself on SIGINT', { tags: ['full'] }, async () => {
    const port = await freePort()
    const target = `name: tool\n      stdio: { cmd: ${process.execPath}, args: [${STDIO_SERVER}], env: { GREETING: hello } }`
    const gw = start(write('mcp.yaml', `mcp:\n  port: ${port}\n  targets:\n    - ${target}\n`))
    await gw.says('gw: serving')
    const client = new Client({ name: 'test', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`))
    await client.connect(transport)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['pid'])
    const result = await client.callTool({ name: 'pid', arguments: {} })
    const [pid = '', greeting] = (result.content as { text: string }[])[0]?.text.split(' ') ?? []
    expect(greeting).toBe('hello')
    expect(isRunning(Number(pid))).toBe(true)
    gw.signal('SIGINT')
    const { code } = await gw.ended
    expect(code).toBe(0)
    await until(`process ${pid} ends`, () => !isRunning(Number(pid)))
    await client.close()
  })

  it('applies an edit under load without a failed request', async () => {
    const port = await freePort()
    const path = write('gateway.yaml', answering(port, '/old'))
    const gw = start(path, '--no-access-log')
    await gw.says('gw: serving')
    const load = startLoad(port, '/old')
    await until('load', () => load.count() > REQUESTS_MIN)
    expect((await get(port, '/new')).status).toBe(404)
    const writtenMs = performance.now()
    writeFileSync(path, answering(port, '/old', '/new'))
    await until('the new route is served', async () => (await get(port, '/new')).status === 200)
    const elapsedMs = performance.now() - writtenMs
    const served = load.count()
    await until('load after the reload', () => load.count() > served + REQUESTS_MIN)
    const { failures, requests } = await load.stop()
    console.log(
      `new route served ${elapsedMs.toFixed(0)} ms after the write; ${requests} requests, ${failures.length} failed`,
    )
    expect(failures).toEqual([])
  })

  it(
    'keeps the last good configuration on a broken edit, says where, and takes the repair',
    { tags: ['full'] },
    async () => {
      const port = await freePort()
      const path = write('gateway.yaml', answering(port, '/a'))
      const gw = start(path)
      await gw.says('gw: serving')
      writeFileSync(path, answering(port, '/a').replace('exact', 'exakt'))
      await gw.says('the last valid configuration stays active')
      expect(gw.stderr).toContain(
        `${path}:3:25: error: routes[0].matches[0].path.exakt: unknown field "exakt"; did you mean exact?`,
      )
      expect((await get(port, '/a')).status).toBe(200)
      writeFileSync(path, answering(port, '/a', '/b'))
      await until('the repair is served', async () => (await get(port, '/b')).status === 200)
      gw.signal('SIGTERM')
      expect((await gw.ended).code).toBe(0)
    },
  )

  it(
    'follows a link to where it leads, says that a file is well again, and reads it again on SIGHUP',
    { tags: ['full'] },
    async () => {
      const port = await freePort()
      mkdirSync(join(folder, 'real'))
      const path = write('real/gateway.yaml', answering(port, '/a'))
      const link = join(folder, 'link.yaml')
      symlinkSync(path, link)
      const gw = start(link)
      await gw.says('gw: serving')
      writeFileSync(path, 'routes: [')
      await gw.says('the last valid configuration stays active')
      writeFileSync(path, answering(port, '/a'))
      await gw.says('has no more errors and equals the active configuration')
      write('real/next.yaml', answering(port, '/a', '/b'))
      renameSync(join(folder, 'real/next.yaml'), path)
      await gw.says('gw: reloaded')
      expect((await get(port, '/b')).status).toBe(200)
      rmSync(path)
      await gw.says('of the link does not exist')
      gw.signal('SIGHUP')
      await until('it was read again', () => gw.stderr.match(/of the link does not exist/g)?.length === 2)
      expect((await get(port, '/b')).status).toBe(200)
      gw.signal('SIGTERM')
      expect((await gw.ended).code).toBe(0)
    },
  )

  it('follows files that the configuration names, and ignores others of the folder', { tags: ['full'] }, async () => {
    const port = await freePort()
    const seen: string[] = []
    const server = createServer((incoming, answer) => {
      seen.push(incoming.headers.authorization ?? '')
      answer.end('ok')
    })
    const upstream = await listening(server)
    const key = write('key.txt', 'first')
    const backend = `{ host: "127.0.0.1:${upstream}", policies: { backendAuth: { key: { file: key.txt } } } }`
    const gw = start(
      write('gateway.yaml', `gateways: { default: { port: ${port} } }\nroutes: [{ backends: [${backend}] }]\n`),
    )
    await gw.says('gw: serving')
    expect((await get(port, '/')).status).toBe(200)
    write('unrelated.log', 'x')
    writeFileSync(key, 'second')
    await gw.says('gw: reloaded')
    expect((await get(port, '/')).status).toBe(200)
    closeServer(server)
    expect(seen).toEqual(['Bearer first', 'Bearer second'])
    expect(gw.stderr.match(/gw: reloaded/g)).toHaveLength(1)
    expect(gw.stdout + gw.stderr).not.toMatch(/first|second/)
  })

  it('takes new prices of models, and keeps those of a file that becomes invalid', { tags: ['full'] }, async () => {
    const port = await freePort()
    const prices = (input: string): string =>
      `{"providers": {"openai": {"models": {"a": {"rates": {"input": "${input}"}}, "b": {}}}}}`
    const named = write('named.json', prices('1'))
    const file = write('gateway.yaml', `config: { modelCatalog: [{ file: named.json }] }\n${answering(port, '/a')}`)
    const ofEnvironment = write('environment.json', prices('2'))
    const gw = new GwProcess(['run', '-f', file, ...ANY_PORTS], { MODEL_CATALOG_PATHS: ofEnvironment })
    processes.push(gw)
    await gw.says('gw: serving')
    writeFileSync(ofEnvironment, prices('3'))
    await gw.says(`gw: reloaded the model catalog: ${ofEnvironment}`)
    writeFileSync(ofEnvironment, prices('many'))
    await gw.says('must be a decimal number in USD per million tokens')
    await gw.says('its last valid content stays in use')
    writeFileSync(named, prices('4'))
    await gw.says(`gw: reloaded the model catalog of ${file}`)
    writeFileSync(named, prices('-1'))
    await gw.says('gateway.yaml has errors; the last valid configuration stays active')
    expect((await get(port, '/a')).status).toBe(200)
  })

  it('serves a folder of manifests and applies a new file', { tags: ['full'] }, async () => {
    const port = await freePort()
    for (const name of ['gateway.yaml', 'http.yaml']) {
      const sample = readFileSync(new URL(`../../config/samples/quickstart/${name}`, import.meta.url), 'utf8')
      write(name, sample.replace('port: 8080', `port: ${port}`))
    }
    const gw = start(folder)
    await gw.says('gw: serving')
    expect((await get(port, '/admin-only')).status).toBe(403)
    expect((await get(port, '/made-later')).status).toBe(404)
    const redirect = 'filters: [{ type: RequestRedirect, requestRedirect: { statusCode: 301 } }]'
    write(
      'later.yaml',
      'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: { name: later }\nspec:\n' +
        '  parentRefs: [{ name: quickstart }]\n  rules:\n' +
        `    - matches: [{ path: { type: PathPrefix, value: /made-later } }]\n      ${redirect}\n`,
    )
    await until('the new route is served', async () => (await get(port, '/made-later')).status === 301)
    gw.signal('SIGINT')
    expect((await gw.ended).code).toBe(0)
  })

  it('reports that it waits for open requests, and a second signal ends them', { tags: ['full'] }, async () => {
    const asked = Promise.withResolvers<void>()
    const silent = createServer(() => asked.resolve())
    const [backend, port] = [await listening(silent), await freePort()]
    const route = `{ backends: [{ host: "127.0.0.1:${backend}" }] }`
    const gw = start(write('gateway.yaml', `binds: [{ port: ${port}, listeners: [{ routes: [${route}] }] }]\n`))
    await gw.says('gw: serving')
    const answer = fetch(`http://127.0.0.1:${port}/`)
    await asked.promise
    gw.signal('SIGINT')
    await gw.says('gw: open requests may still finish; press Ctrl-C again to stop at once')
    gw.signal('SIGINT')
    await expect(answer).rejects.toThrow('fetch failed')
    const { code, stderr } = await gw.ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('gw: stopped at once by a second signal\n')])
    closeServer(silent)
  })

  firstOf(1)([['listener'], ['admin']])('reports the port in one line if the %s port is in use', async (which) => {
    const server = createServer()
    const taken = await listening(server)
    const port = which === 'listener' ? taken : await freePort()
    const flags = which === 'admin' ? ['--admin-addr', `127.0.0.1:${taken}`] : []
    const { code, stderr } = await start(write('gateway.yaml', answering(port, '/a')), ...flags).ended
    closeServer(server)
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`127\\.0\\.0\\.1 port ${taken}: the port is in use`)),
    ])
  })

  it('reads addresses and workers from config, and prefers flags', { tags: ['full'] }, async () => {
    const [port, readiness, stats] = [await freePort(), await freePort(), await freePort()]
    const config = `config: { readinessAddr: "127.0.0.1:${readiness}", statsAddr: "127.0.0.1:1", workerThreads: 1, logging: { format: json } }\n`
    const path = write('gateway.yaml', config + answering(port, '/a'))
    const gw = new GwProcess(['run', '-f', path, '--admin-addr', '127.0.0.1:0', '--stats-addr', `127.0.0.1:${stats}`])
    processes.push(gw)
    await gw.says('"serving ')
    expect((await get(readiness, '/healthz/ready')).status).toBe(200)
    expect((await get(stats, '/metrics')).status).toBe(200)
    const [line = ''] = gw.stdout.split('\n')
    expect(JSON.parse(line)).toMatchObject({ workers: 1 })
  })

  firstOf(1)<[string, string[], string]>([
    ['a flag', ['--log-format', 'json'], ''],
    ['the file', [], 'config: { logging: { format: json } }\n'],
  ])('writes every line as JSON if %s sets it, and each warning once', async (_, flags, config) => {
    const keyless = "routes:\n- policies: { jwtAuth: { issuer: a, jwks: '{}' } }\n  backends: [{ host: 'a:1' }]\n"
    const path = write('gateway.yaml', `${config}gateways: { default: { port: ${await freePort()} } }\n${keyless}`)
    const gw = new GwProcess(['run', '-f', path, ...flags, ...ANY_PORTS])
    processes.push(gw)
    await gw.says('"serving ')
    const written = readFileSync(path, 'utf8')
    write('gateway.yaml', `${written}rotes: []\n`)
    await gw.says('the last valid configuration stays active')
    write('gateway.yaml', `${written}- name: more\n  backends: [{ host: 'a:2' }]\n`)
    await gw.says('"reloaded ')
    gw.signal('SIGTERM')
    const { stdout, stderr } = await gw.ended
    const lines = [...stdout.trimEnd().split('\n'), ...stderr.trimEnd().split('\n')]
    const entries = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    for (const entry of entries) {
      expect(entry).toMatchObject({ level: expect.any(String), time: expect.any(String), scope: expect.any(String) })
    }
    expect(entries).toContainEqual(expect.objectContaining({ level: 'error', path: 'rotes', file: path, column: 1 }))
    expect(lines.filter((line) => /no usable key/.test(line))).toHaveLength(1)
  })
})

interface Load {
  count(): number
  stop(): Promise<{ failures: readonly string[]; requests: number }>
}

/** Keep-alive connections that request one path repeatedly. */
function startLoad(port: number, path: string): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const failures: string[] = []
  let requests = 0
  const stopped = new AbortController()
  const client = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        const { status, body } = await get(port, path, agent)
        if (status !== 200 || body !== path) failures.push(`${status} ${body}`)
      } catch (error) {
        failures.push(String(error))
      }
      requests++
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)
  return {
    count: () => requests,
    async stop() {
      stopped.abort()
      await Promise.all(clients)
      agent.destroy()
      return { failures, requests }
    },
  }
}

function get(port: number, path: string, agent?: Agent): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, ...(agent && { agent }) }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => (body += text))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
      answer.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function isRunning(pid: number): boolean {
  if (existsSync('/proc/self')) return existsSync(`/proc/${pid}`)
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
