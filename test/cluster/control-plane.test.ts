// The shipped programs with a real API server: `gw controller` and `gw proxy serve` as separate processes.
// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testPort } from '../../api/v1alpha1/apiserver.testing.ts'
import { freePort } from '../ports.ts'
import { until } from '../wait.ts'
import { missing, type RealApiServer, startRealApiServer } from './real-apiserver.ts'

const GW = resolve(import.meta.dirname, '../../bin/gw')
const SETUP_MS = 180_000
const CHANGES = 200
const OUTPUT_LINES_MAX = 50

const reason = missing()
if (reason !== undefined) console.log(`skipped: ${reason}`)

describe.skipIf(reason !== undefined)('the control plane on a real API server', () => {
  let server: RealApiServer
  let folder: string
  let port: number
  const processes: ChildProcess[] = []
  const output: string[] = []

  function run(args: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
    const child = spawn(GW, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => output.push(String(text)))
    processes.push(child)
    return child
  }

  async function end(child: ChildProcess): Promise<number | null> {
    const ended = new Promise<number | null>((done) => {
      child.once('exit', done)
    })
    child.kill('SIGTERM')
    return child.signalCode === null ? (child.exitCode ?? (await ended)) : null
  }

  function controller(name: string): ChildProcess {
    const address = '127.0.0.1:0'
    return run(['controller'], {
      KUBECONFIG: server.kubeconfig,
      POD_NAME: name,
      GW_HEALTH_ADDR: address,
      GW_METRICS_ADDR: address,
      GW_ADMIN_ADDR: address,
    })
  }

  async function route(id: number): Promise<void> {
    await server.apply('/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/cart', {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: {
        parentRefs: [{ name: 'web' }],
        rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: `v${id}.example.com` } }] }],
      },
    })
  }

  async function served(): Promise<string> {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' })
      await response.arrayBuffer()
      return response.headers.get('location') ?? ''
    } catch {
      // Not listening yet.
      return ''
    }
  }

  beforeAll(async () => {
    server = await startRealApiServer(testPort())
    folder = mkdtempSync(join(tmpdir(), 'gw-control-plane-'))
    port = await freePort()
    for (const name of ['gw-system', 'shop']) {
      await server.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    await server.apply('/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways/web', {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
    })
  }, SETUP_MS)

  afterAll(async () => {
    await Promise.all(processes.map(end))
    rmSync(folder, { recursive: true })
    await server.stop()
  }, SETUP_MS)

  afterEach((context) => {
    if (context.task.result?.state === 'fail') console.log(output.slice(-OUTPUT_LINES_MAX).join(''))
    output.length = 0
  })

  async function status(path: string): Promise<string> {
    const { body } = await server.send({ method: 'GET', path: `/apis/gateway.networking.k8s.io/v1${path}` })
    return JSON.stringify((body as { status?: unknown }).status ?? {})
  }

  function proxyEnvironment(): Record<string, string> {
    const { caData = '' } = server.config.getCurrentCluster() ?? {}
    writeFileSync(join(folder, 'ca.crt'), Buffer.from(caData, 'base64'))
    writeFileSync(join(folder, 'token'), server.config.getCurrentUser()?.token ?? '')
    return {
      GW_API_SERVER: server.config.getCurrentCluster()?.server ?? '',
      GW_API_CA_FILE: join(folder, 'ca.crt'),
      GW_API_TOKEN_FILE: join(folder, 'token'),
      NAMESPACE: 'shop',
      GATEWAY: 'web',
      POD_NAME: 'web-1',
      WORKER_THREADS: '1',
      ADMIN_ADDR: '127.0.0.1:0',
      STATS_ADDR: '127.0.0.1:0',
      READINESS_ADDR: '127.0.0.1:0',
    }
  }

  it(
    'serves a Gateway, and applies 200 changes of a route',
    async () => {
      controller('one')
      await until('the class', async () => (await status('/gatewayclasses/gw')).includes('"Accepted"'), SETUP_MS)
      run(['proxy', 'serve', '--listen-address', '127.0.0.1', '--mount', folder], proxyEnvironment())
      await route(0)
      await until('the first route', async () => (await served()).includes('//v0.'), SETUP_MS)
      await until('Programmed', async () =>
        (await status('/namespaces/shop/gateways/web')).includes('Successfully programmed'),
      )
      const times: number[] = []
      for (let id = 1; id <= CHANGES; id++) {
        const start = performance.now()
        await route(id)
        await until(`change ${id}`, async () => (await served()).includes(`//v${id}.`))
        times.push(performance.now() - start)
      }
      times.sort((a, b) => a - b)
      const at = (part: number): string => `${(times[Math.floor(times.length * part)] ?? 0).toFixed(0)} ms`
      console.log(
        `apply to traffic, ${CHANGES} changes: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(0.9999)}`,
      )
      expect(times).toHaveLength(CHANGES)
      expect(await status('/namespaces/shop/httproutes/cart')).toContain('gw.dev/controller')
      expect(await status('/gatewayclasses/gw')).toContain('"reason":"SupportedVersion"')
    },
    SETUP_MS,
  )

  it(
    'moves leadership when the leader stops, and when it is killed',
    async () => {
      const [first] = processes
      const second = controller('two')
      const third = controller('three')
      const holder = async (): Promise<string> => {
        const path = '/apis/coordination.k8s.io/v1/namespaces/gw-system/leases/gw-gw'
        const { body } = await server.send({ method: 'GET', path })
        return (body as { spec?: { holderIdentity?: string } }).spec?.holderIdentity ?? ''
      }
      expect(await holder()).toBe('one')
      const started = (): number => output.filter((line) => line.includes('"started"')).length
      await until('the others run', () => started() >= 2, SETUP_MS)
      const stopped = performance.now()
      expect(await end(first as ChildProcess)).toBe(0)
      await until('another leader', async () => /two|three/.test(await holder()), SETUP_MS)
      const handedOver = performance.now() - stopped
      const leader = (await holder()) === 'two' ? second : third
      const died = performance.now()
      leader.kill('SIGKILL')
      const dead = await holder()
      await until('the last leader', async () => !['', dead].includes(await holder()), SETUP_MS)
      const replaced = performance.now() - died
      console.log(`next leader after a stop ${handedOver.toFixed(0)} ms, after a crash ${replaced.toFixed(0)} ms`)
      await route(1000)
      await until('a change by the last leader', async () => (await served()).includes('//v1000.'), SETUP_MS)
      expect(await served()).toContain('//v1000.')
    },
    SETUP_MS,
  )

  it(
    'serves the last valid configuration without an API server, and starts from the mount',
    async () => {
      for (const [kind, name] of [
        ['configmaps', 'web-config'],
        ['configmaps', 'web-endpoints'],
        ['secrets', 'web-secrets'],
      ]) {
        const { body } = await server.send({ method: 'GET', path: `/api/v1/namespaces/shop/${kind}/${name}` })
        const { data = {}, binaryData = {} } = body as {
          data?: Record<string, string>
          binaryData?: Record<string, string>
        }
        for (const [file, text] of Object.entries(data)) {
          writeFileSync(join(folder, file), kind === 'secrets' ? Buffer.from(text, 'base64') : text)
        }
        for (const [file, text] of Object.entries(binaryData))
          writeFileSync(join(folder, file), Buffer.from(text, 'base64'))
      }
      const before = await served()
      expect(before).toMatch(/^http:\/\/v\d+\./)
      const proxy = processes.find(({ spawnargs }) => spawnargs.includes('serve')) as ChildProcess
      await end(proxy)
      const environment = { ...proxyEnvironment(), GW_API_SERVER: 'https://127.0.0.1:1' }
      run(['proxy', 'serve', '--listen-address', '127.0.0.1', '--mount', folder], environment)
      await until('served from the mount', async () => (await served()) === before, SETUP_MS)
      expect(await served()).toBe(before)
    },
    SETUP_MS,
  )
})
