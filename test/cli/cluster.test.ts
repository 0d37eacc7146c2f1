// gw proxy against a cluster, as users run it: a real proxy takes the place of a pod, behind an API server that
// forwards its ports.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { adminTokenFile } from '#api/admin/token-file.ts'
import { startApiServer, type TestApiServer, type TestPod } from '#cli/portforward/api-server.testing.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { type Finished, GwProcess } from './gw.ts'

const NAME_LABEL = 'gateway.networking.k8s.io/gateway-name'
/** Of the listener in the pod. */
const LISTENER_PORT = 80

let upstream: Server
let gateway: TestProxy
let api: TestApiServer
let folder: string
const hosts: (string | undefined)[] = []

beforeAll(async () => {
  vi.stubEnv('GW_BACKEND_ALLOW_ADDRESSES', '127.0.0.1')
  folder = mkdtempSync(join(tmpdir(), 'gw-cluster-test-'))
  upstream = createServer((request, response) => {
    hosts.push(request.headers.host)
    response.end('ok')
  })
  const backend = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  gateway = await testProxy({ routes: [{ name: 'all', prefix: '/', backend }], settings: { servesTenants: true } })
  const { admin } = gateway.proxy.ports
  const output = readFileSync(adminTokenFile(admin), 'utf8')
  const ports = new Map([
    [15_000, admin],
    [LISTENER_PORT, gateway.port],
  ])
  const proxy = { namespace: 'shop', env: ['GATEWAY'], output, ports }
  const pods: TestPod[] = [
    { ...proxy, name: 'web-2', labels: { [NAME_LABEL]: 'web', app: 'web' } },
    { ...proxy, name: 'web-1', labels: { [NAME_LABEL]: 'web', app: 'web' } },
    { ...proxy, name: 'web-0', labels: { [NAME_LABEL]: 'web' }, phase: 'Pending' },
    { ...proxy, name: 'api-1', namespace: 'team', labels: { [NAME_LABEL]: 'api' } },
    { name: 'other-1', namespace: 'shop', labels: { [NAME_LABEL]: 'other' }, ports: new Map() },
    { name: 'locked-1', namespace: 'locked', env: ['GATEWAY'], labels: { [NAME_LABEL]: 'locked' }, ports },
    { ...proxy, name: 'closed-1', namespace: 'closed', labels: { [NAME_LABEL]: 'closed' }, ports: new Map() },
  ]
  const selector = { matchLabels: { app: 'web' } }
  api = await startApiServer({
    pods,
    objects: {
      '/apis/apps/v1/namespaces/shop/deployments/web': { metadata: { name: 'web' }, spec: { selector } },
      '/api/v1/namespaces/shop': { metadata: { name: 'shop' } },
      '/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways/other': { metadata: { name: 'other' } },
      '/apis/gateway.networking.k8s.io/v1/gateways': {
        items: ['a', 'b', 'c', 'd', 'web', 'other'].map((name) => ({ metadata: { name, namespace: 'shop' } })),
      },
      '/api/v1/namespaces': { kind: 'NamespaceList', metadata: {}, items: [{ metadata: { name: 'shop' } }] },
      '/api/v1/namespaces/shop/services/web': { metadata: { name: 'web' }, spec: { selector: selector.matchLabels } },
    },
  })
  writeFileSync(join(folder, 'config'), api.kubeconfig)
})

afterAll(async () => {
  vi.unstubAllEnvs()
  api.close()
  await gateway.stop()
  closeServer(upstream)
  rmSync(folder, { recursive: true })
})

function gw(...args: readonly string[]): Promise<Finished> {
  return new GwProcess(args, { KUBECONFIG: join(folder, 'config') }).ended
}

const ONE_OF_TWO = 'web-1.shop is one of 2 pods; pod/NAME selects another\n'

describe('gw proxy against a cluster', () => {
  it('sends a request through the port-forward and traces it', async () => {
    const port = `--port=${LISTENER_PORT}`
    const trace = await gw('proxy', 'trace', 'gateway/web', '-n', 'shop', port, '--', 'http://shop.example/cart')
    expect([trace.code, trace.stderr]).toEqual([0, `${ONE_OF_TWO}sending the request\n`])
    expect(trace.stdout).toMatch(/Request Done {4}request finished status=200\n$/)
    expect(hosts).toEqual(['shop.example'])
    expect(api.commands).toContain('web-1: /usr/local/bin/node /app/gw.js proxy token --admin-addr localhost:15000')
  })

  it('waits for a request of another client', { tags: ['full'] }, async () => {
    const command = new GwProcess(['proxy', 'trace', 'pod/web-2', '--raw'], { KUBECONFIG: join(folder, 'config') })
    await command.says('waiting for a request; press Ctrl-C to stop')
    await (await fetch(`${gateway.url}/wanted`)).text()
    const { code, stdout } = await command.ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      message: { type: 'requestFinished' },
    })
  })

  it.each([
    ['gateway/web.shop', ONE_OF_TWO],
    ['deploy/web', ONE_OF_TWO],
    ['svc/web', ONE_OF_TWO],
    ['web-2', ''],
  ])('prints the configuration of %s', { tags: ['full'] }, async (resource, note) => {
    const { code, stdout, stderr } = await gw('proxy', 'config', 'routes', resource)
    expect([code, stderr]).toEqual([0, note])
    expect(stdout).toMatch(/^ROUTE +NAMESPACE +RULE +LISTENER +HOSTNAMES +BACKENDS\nall +ns +http +\* +ns\/all\n$/)
  })

  it(
    'prints one list for the Gateways of all namespaces, and reports those that it cannot read',
    {
      tags: ['full'],
    },
    async () => {
      const all = await gw('proxy', 'config', 'policies', '-A', '-o', 'json')
      expect(all.code).toBe(1)
      expect(all.stderr).toContain('cannot reach the admin server locked-1.locked: ')
      expect(all.stderr).toContain('cannot reach the admin server closed-1.closed: ')
      expect(JSON.parse(all.stdout)).toEqual([
        { gateway: 'gateway/web.shop', proxy: 'web-1.shop', policies: [] },
        { gateway: 'gateway/api.team', proxy: 'api-1.team', policies: [] },
      ])
      const tables = await gw('proxy', 'config', 'backends', '--all', '-A')
      expect(tables.stdout).toMatch(
        /^gateway\/web\.shop \(pod web-1\.shop\)\nTYPE .*\nBackend +all .*\n\ngateway\/api\.team /,
      )
    },
  )

  it('finds the only Gateway of a namespace', { tags: ['full'] }, async () => {
    const { code, stdout } = await gw('proxy', 'config', 'backends', '--all', '-n', 'team', '-o', 'json')
    expect([code, JSON.parse(stdout)]).toEqual([0, [expect.objectContaining({ type: 'Backend', name: 'all' })]])
  })

  it('sets the log levels of all pods', { tags: ['full'] }, async () => {
    const { code, stdout } = await gw('proxy', 'log', 'gateway/web', '--set', 'otlp=debug')
    const line = 'current log level is error,otlp=debug'
    expect([code, stdout]).toEqual([0, `web-1.shop: ${line}\nweb-2.shop: ${line}\n`])
  })

  it.each([
    [
      ['gateway/wbe'],
      'there is no Gateway shop/wbe; the cluster has gateway/web.shop, gateway/a.shop, gateway/b.shop, ',
    ],
    [['gateway/web', '-n', 'absent'], 'the namespace absent does not exist; the cluster has gateway/web.shop, '],
    [['gateway/other'], 'the Gateway shop/other has no running proxy; see: kubectl get pods -n shop -l gateway.'],
    [['pod/absent'], 'cannot read the pod shop/absent: pods "absent" not found'],
    [['pod/web-0'], 'the pod shop/web-0 does not run: its phase is Pending'],
    [['svc/absent'], 'cannot read the service shop/absent: /api/v1/namespaces/shop/services/absent not found'],
    [['-n', 'empty'], 'the namespace empty does not exist; the cluster has gateway/a.shop'],
    [['gateway/web', '--context', 'prod'], '--context prod: KUBECONFIG has the contexts dev'],
    [['gateway/web', '--kubeconfig', '/absent'], '--kubeconfig /absent: the file does not exist; name another one'],
    [['gateway/web', '-A'], 'omit the resource and --namespace'],
    [['gateway/closed', '-n', 'closed'], 'closed-1.closed: failed to connect to localhost:15000 inside namespace'],
    [['gateway/locked', '-n', 'locked'], 'needs `create` of pods/portforward and pods/exec'],
  ])('reports the reason for %j', { tags: ['full'] }, async (args, reason) => {
    const { code, stderr, stdout } = await gw('proxy', 'config', 'all', ...args)
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(reason)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it.each([
    [['proxy', 'config', 'all', 'gate'], 'gateway/web'],
    [['proxy', 'log', '-n', 'team', ''], 'gateway/api'],
    [['explain', 'pod/web-'], 'pod/web-1\t\npod/web-2'],
    [['proxy', 'trace', '-n', ''], 'shop'],
    [['ui', '--context', 'd'], 'dev'],
    [['proxy', 'log', '--kubeconfig', '/absent', ''], ''],
  ])('completes %j', { tags: ['full'] }, async (words, names) => {
    const { code, stdout, stderr } = await gw('complete', '--', ...words)
    const lines = names === '' ? '' : `${names}\t\n`
    expect([code, stdout, stderr]).toEqual([0, `${lines}:4\n`, ''])
  })
})
