// `make bench-footprint`: the cost of one worker of the bundle. Processor time and time from start to the first 200,
// for starts that find the compiled code of an earlier one;
// resident memory when idle, after plain load, after mixed load (bodies, connections, TLS, streams of a model) and with
// many routes in a standalone file and in a folder of manifests; and the kinds of memory.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request as plainRequest, type Server } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { components } from '../api/admin/types.gen.ts'
import { modelServer } from '../hack/quickstart/model.ts'
import { certificateFor } from '../test/certificates.ts'
import { medianOf } from './figures.ts'

const GW = join(import.meta.dirname, '..', 'dist', 'gw.js')
const PORT = 19_105
const TLS_PORT = 19_106
const ADMIN = 19_205
const START_MS_MAX = 60_000
/** Longer than the pause after which a worker with load gives memory back. */
const REST_MS = 15_000
const MIXED_CLIENTS = 64
const IDLE_CONNECTIONS = 500
const BODY = Buffer.alloc(256 * 1024, 'x')
const CLOCK_TICK_MS = 10

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    routes: { type: 'string', default: '5000' },
  },
})
const [starts, seconds, routes] = [Number(values.starts), Number(values.seconds), Number(values.routes)]

interface Gw {
  readonly child: ChildProcess
  readonly firstMs: number
  readonly firstCpuMs: number
  stop(): Promise<void>
}

interface Row {
  readonly what: string
  readonly 'first 200 ms'?: number
  readonly 'CPU to it ms'?: number
  readonly 'RSS MiB': number
  readonly 'own MiB': number
  readonly 'file MiB': number
  readonly 'main heap MiB'?: number
  readonly 'worker heap MiB'?: number
  readonly 'buffers MiB'?: number
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-footprint-'))
  const echo = createServer((request, response) => request.pipe(response))
  const model = modelServer()
  const rows: Row[] = []
  /** Times are the median of all starts. */
  const atRest = async (what: string, file: string, use: (gw: Gw) => Promise<unknown> = async () => {}) => {
    const runs: Gw[] = []
    for (let i = 1; i < starts; i++) runs.push(await startAndStop(file))
    await measured(file, async (gw) => {
      rows.push(await row(what, gw, medianStart([...runs, gw])))
      await use(gw)
    })
  }
  try {
    const upstream = await listen(echo)
    const one = join(folder, 'one.yaml')
    const route = { name: 'echo', backends: [{ host: upstream }] }
    writeFileSync(one, JSON.stringify({ gateways: { default: { port: PORT } }, routes: [route] }))
    // It writes compiled code beside the bundle, which the others read.
    const first = await startAndStop(one)
    await atRest('at rest, one route', one)
    const small = join(folder, 'small.yaml')
    writeFileSync(small, mixedFile(folder, upstream, await listen(model)))
    await startAndStop(small)
    await atRest('at rest, with a chat model', small, async (gw) => {
      execFileSync('wrk', ['-t1', '-c32', `-d${seconds}s`, `http://127.0.0.1:${PORT}/`], { stdio: 'ignore' })
      rows.push(await row('after plain load', gw))
      await mixedLoad()
      rows.push(await row('after mixed load', gw))
    })
    const standalone = join(folder, 'many.yaml')
    writeFileSync(standalone, manyRoutes(upstream))
    await measured(standalone, async (gw) => rows.push(await row(`${routes} routes, standalone`, gw, gw)))
    const manifests = join(folder, 'manifests')
    mkdirSync(manifests)
    for (const [name, text] of manyManifests(upstream)) writeFileSync(join(manifests, name), text)
    await measured(manifests, async (gw) => rows.push(await row(`${routes} routes, manifests`, gw, gw)))
    console.log(`one worker, median of ${starts} starts after the first, load ${loadavg()[0]?.toFixed(1)}`)
    console.log(`first start: ${Math.round(first.firstMs)} ms, ${first.firstCpuMs} ms of processor time`)
    console.table(rows)
  } finally {
    echo.close().closeAllConnections()
    model.close().closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measured(file: string, use: (gw: Gw) => Promise<unknown>): Promise<void> {
  const gw = await startGw(file)
  try {
    await use(gw)
  } finally {
    await gw.stop()
  }
}

async function startAndStop(file: string): Promise<Gw> {
  const gw = await startGw(file)
  await gw.stop()
  return gw
}

async function startGw(file: string): Promise<Gw> {
  const address = (port: number): string => `127.0.0.1:${port}`
  const own = [
    '--admin-addr',
    address(ADMIN),
    '--stats-addr',
    address(ADMIN + 1),
    '--readiness-addr',
    address(ADMIN + 2),
  ]
  const args = [
    '--disable-warning=ExperimentalWarning',
    GW,
    'run',
    '-f',
    file,
    '--workers',
    '1',
    '--no-access-log',
    ...own,
  ]
  const before = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  while ((await statusOf(PORT)) !== 200) {
    if (child.exitCode !== null || performance.now() > before + START_MS_MAX) {
      await stop()
      throw new Error(`gw does not serve ${file}`)
    }
    await delay(5)
  }
  return { child, firstMs: performance.now() - before, firstCpuMs: processorMs(child.pid ?? 0), stop }
}

function medianStart(runs: readonly Gw[]): Pick<Gw, 'firstMs' | 'firstCpuMs'> {
  return { firstMs: medianOf(runs.map((run) => run.firstMs)), firstCpuMs: medianOf(runs.map((run) => run.firstCpuMs)) }
}

async function row(what: string, { child }: Gw, first?: Pick<Gw, 'firstMs' | 'firstCpuMs'>): Promise<Row> {
  await delay(REST_MS)
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const field = (name: string): number => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
  const response = await fetch(`http://127.0.0.1:${ADMIN}/memory`)
  const memory = (await response.json()) as components['schemas']['Memory'] // our own admin server
  const mib = (bytes = 0): number => Math.round(bytes / 1024 / 1024)
  return {
    what,
    ...(first && { 'first 200 ms': Math.round(first.firstMs), 'CPU to it ms': first.firstCpuMs }),
    'RSS MiB': field('VmRSS'),
    'own MiB': field('RssAnon'),
    'file MiB': field('RssFile'),
    'main heap MiB': mib(memory.process['heapTotal']),
    'worker heap MiB': mib(memory.workers[0]?.['heapTotal']),
    'buffers MiB': mib(memory.process['arrayBuffers']),
  }
}

/** User and system time of the process. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS
}

/** 0: no answer. */
function statusOf(port: number): Promise<number> {
  return new Promise((resolve) => {
    const request = plainRequest({ host: '127.0.0.1', port, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    request.once('error', () => resolve(0)).end()
  })
}

/** Clients that post bodies and read them back, some over TLS, and clients that read streams; idle connections. */
async function mixedLoad(): Promise<void> {
  const http = new Agent({ keepAlive: true, maxSockets: MIXED_CLIENTS + IDLE_CONNECTIONS })
  const https = new TlsAgent({ keepAlive: true, rejectUnauthorized: false })
  const chat = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'word '.repeat(200) }] })
  const send = (isTls: boolean, path: string, body: Buffer | string): Promise<void> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', path, method: 'POST', headers: { 'content-type': 'application/json' } }
      const request = isTls
        ? tlsRequest({ ...options, port: TLS_PORT, agent: https })
        : plainRequest({ ...options, port: PORT, agent: http })
      request.once('error', reject).once('response', (response) => {
        if (response.statusCode === 200) response.resume().once('end', resolve)
        else reject(new Error(`${path} answered ${response.statusCode}`))
      })
      request.end(body)
    })
  await Promise.all(Array.from({ length: IDLE_CONNECTIONS }, () => send(false, '/', 'x')))
  const end = performance.now() + seconds * 1000
  const client = async (index: number): Promise<void> => {
    while (performance.now() < end) {
      if (index % 4 === 0) await send(false, '/v1/chat/completions', chat)
      else await send(index % 2 === 1, '/', BODY)
    }
  }
  await Promise.all(Array.from({ length: MIXED_CLIENTS }, (_, index) => client(index)))
  http.destroy()
  https.destroy()
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}` // listening on a port
}

function mixedFile(folder: string, echo: string, model: string): string {
  const { certificate, privateKey } = certificateFor({ commonName: 'bench', names: ['IP:127.0.0.1'] })
  writeFileSync(join(folder, 'cert.pem'), certificate)
  writeFileSync(join(folder, 'key.pem'), privateKey)
  return JSON.stringify({
    gateways: {
      default: { port: PORT },
      tls: {
        port: TLS_PORT,
        listeners: [
          { name: 'tls', protocol: 'HTTPS', tls: { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') } },
        ],
      },
    },
    routes: [
      {
        name: 'model',
        matches: [{ path: { pathPrefix: '/v1' } }],
        backends: [
          {
            ai: { name: 'model', provider: { openAI: {} }, hostOverride: model },
            policies: { backendAuth: { key: 'none' } },
          },
        ],
      },
      { name: 'echo', gateways: ['default', 'tls'], backends: [{ host: echo }] },
    ],
  })
}

/** The last one answers the first request. */
function manyRoutes(echo: string): string {
  const one = (name: string, rest: string): string => `  - name: ${name}\n${rest}    backends:\n      - host: ${echo}\n`
  const list = Array.from({ length: routes - 1 }, (_, i) =>
    one(`r${i}`, `    hostnames: [h${i % 50}.example]\n    matches:\n      - path:\n          pathPrefix: /p${i}\n`),
  )
  return `gateways:\n  default:\n    port: ${PORT}\nroutes:\n${list.join('')}${one('all', '')}`
}

function manyManifests(echo: string): [string, string][] {
  const [host = '', port = ''] = echo.split(':')
  const gateway = 'gateway.networking.k8s.io/v1'
  const route = (name: string, rest: object, rule: object): object => ({
    apiVersion: gateway,
    kind: 'HTTPRoute',
    metadata: { name },
    spec: {
      parentRefs: [{ name: 'g' }],
      ...rest,
      rules: [{ ...rule, backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'echo' }] }],
    },
  })
  const objects = [
    {
      apiVersion: gateway,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    {
      apiVersion: gateway,
      kind: 'Gateway',
      metadata: { name: 'g' },
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: PORT, protocol: 'HTTP' }] },
    },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      metadata: { name: 'echo' },
      spec: { static: { host, port: Number(port) } },
    },
    route('all', {}, {}),
    ...Array.from({ length: routes - 1 }, (_, i) =>
      route(
        `r${i}`,
        { hostnames: [`h${i % 50}.example`] },
        { matches: [{ path: { type: 'PathPrefix', value: `/p${i}` } }] },
      ),
    ),
  ]
  return objects.map((object, i) => [`${i}.json`, JSON.stringify(object)])
}

await main()
