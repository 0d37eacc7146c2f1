// Proxy and controller with istiod, the control plane of Istio, and an API server: certificates for tokens of service
// accounts, and calls to a Pod that the controller has detected. The Pod itself is the HBONE server of Istio.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { CaClient } from '#proxy/mesh/ca-client.ts'
import type { MeshSettings } from '#proxy/mesh/settings.ts'
import { startTlsProxy, type TlsTestProxy } from '#proxy/tls/proxy.testing.ts'
import { freePort } from '#test/ports.ts'
import { testPort } from '../../api/v1alpha1/apiserver.testing.ts'
import { missing, type RealApiServer, startRealApiServer } from '../cluster/real-apiserver.ts'
import { until } from '../wait.ts'
import { type Peers, startPeers, stopPeers } from './peers.ts'

const ISTIOD = process.env['GW_MESH_ISTIOD'] ?? ''
const WAIT = { timeout: 60_000 }
const GATEWAY_API = 'gateway.networking.k8s.io/v1'
/** Endpoints cannot have an address on loopback. */
const ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

const reason = ADDRESS === undefined ? 'no address apart from loopback' : missing()
if (reason !== undefined) console.log(`skipped: ${reason}`)

describe.skipIf(reason !== undefined)('with istiod', () => {
  let server: RealApiServer
  let istiod: ChildProcess
  let folder: string
  let mesh: MeshSettings
  let peers: Peers
  let operator: TestOperator
  let proxy: TlsTestProxy
  let port: number
  const ports = { ca: 0, http: 0 }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gw-istiod-'))
    server = await startRealApiServer(testPort())
    for (const name of ['gw-system', 'istio-system', 'shop']) await apply('v1', 'Namespace', name, {}, '')
    for (const name of ['web', 'cart']) await apply('v1', 'ServiceAccount', name, {})
    ;[port, ports.ca, ports.http] = [await freePort(), await freePort(), await freePort()]
    await startIstiod()
    mesh = await settingsFor('web')
    peers = await startWorkload()
    await makeRoute()
    operator = await testOperator({ config: server.config, environment: { GW_MESH_AUTO_ENABLED: 'true' } })
    proxy = await startTlsProxy({ listeners: [] }, 1, { mesh: { ...mesh, tunnelPort: peers.tunnels } })
    await until('the workload of the mesh', () => rendered()?.workloads.length === 1, WAIT.timeout)
    const config = rendered()
    const applied = config && (await proxy.proxy.apply(config, { version: 1, secrets: [] }))
    if (applied === undefined || 'problem' in applied) throw new Error(JSON.stringify(applied))
  }, 240_000)

  afterAll(async () => {
    await proxy.stop()
    await operator.stop()
    await stopPeers()
    await stopIstiod()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  async function apply(
    apiVersion: string,
    kind: string,
    name: string,
    rest: object,
    namespace = 'shop',
  ): Promise<void> {
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const plural = `${kind.toLowerCase()}s`
    const place = namespace === '' ? '' : `/namespaces/${namespace}`
    const { metadata, ...others } = rest as { metadata?: object }
    const meta = { ...metadata, name, ...(namespace !== '' && { namespace }) }
    await server.apply(`${root}${place}/${plural}/${name}`, { apiVersion, kind, metadata: meta, ...others })
  }

  async function startIstiod(): Promise<void> {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      POD_NAMESPACE: 'istio-system',
      POD_NAME: 'istiod',
      ISTIOD_CUSTOM_HOST: 'localhost',
      INJECTION_WEBHOOK_CONFIG_NAME: '',
      VALIDATION_WEBHOOK_CONFIG_NAME: '',
    }
    const addresses = ['--secureGRPCAddr', `127.0.0.1:${ports.ca}`, '--httpAddr', `127.0.0.1:${ports.http}`]
    const unused = ['--grpcAddr', '', '--httpsAddr', '', '--monitoringAddr', '127.0.0.1:0', '--ctrlz_port', '0']
    const others = ['--kubeconfig', server.kubeconfig, '--registries', 'Kubernetes', ...unused]
    istiod = spawn(ISTIOD, ['discovery', ...addresses, ...others], { cwd: folder, env, stdio: 'ignore' })
    const isReady = async (): Promise<void> => {
      expect((await fetch(`http://127.0.0.1:${ports.http}/ready`)).status).toBe(200)
    }
    await vi.waitFor(isReady, WAIT)
  }

  async function stopIstiod(): Promise<void> {
    istiod.kill('SIGKILL')
    if (istiod.exitCode === null && istiod.signalCode === null) await once(istiod, 'exit')
  }

  async function tokenOf(account: string, audience = 'istio-ca'): Promise<string> {
    const { body } = await server.send({
      method: 'POST',
      path: `/api/v1/namespaces/shop/serviceaccounts/${account}/token`,
      contentType: 'application/json',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [audience] } },
    })
    return (body as { status: { token: string } }).status.token // a TokenRequest
  }

  /** The roots are those that istiod writes into each namespace. */
  async function rootsOfMesh(): Promise<string> {
    let roots: string | undefined
    await until('the roots of the mesh', async () => {
      const path = '/api/v1/namespaces/shop/configmaps/istio-ca-root-cert'
      const { body } = await server.send({ method: 'GET', path })
      roots = (body as { data?: Record<string, string> }).data?.['root-cert.pem'] // a ConfigMap, or an error
      return roots !== undefined
    })
    return roots ?? ''
  }

  async function settingsFor(serviceAccount: string): Promise<MeshSettings> {
    const [tokenFile, rootFile] = [join(folder, `token-${serviceAccount}`), join(folder, `root-${serviceAccount}`)]
    writeFileSync(tokenFile, await tokenOf(serviceAccount))
    writeFileSync(rootFile, await rootsOfMesh())
    return {
      ca: { host: 'localhost', port: ports.ca },
      trustDomain: 'cluster.local',
      additionalTrustDomains: [],
      namespace: 'shop',
      serviceAccount,
      clusterId: 'Kubernetes',
      tunnelPort: 0,
      tokenFile,
      rootFile,
    }
  }

  /** With a certificate that istiod issued for its service account. */
  async function startWorkload(): Promise<Peers> {
    const settings = await settingsFor('cart')
    const { chain, privateKey } = await new CaClient({ settings }).request(AbortSignal.timeout(WAIT.timeout))
    const [cert, key] = [join(folder, 'cart.crt'), join(folder, 'cart.key')]
    writeFileSync(cert, chain)
    writeFileSync(key, privateKey)
    return startPeers(['unused', 'unused', 'unused', cert, key, settings.rootFile, ADDRESS ?? ''])
  }

  async function makeRoute(): Promise<void> {
    await apply('v1', 'Service', 'cart', { spec: { ports: [{ name: 'http', port: 80 }] } })
    await apply('v1', 'Pod', 'cart', {
      metadata: { annotations: { 'ambient.istio.io/redirection': 'enabled' } },
      spec: { serviceAccountName: 'cart', containers: [{ name: 'cart', image: 'cart:1' }] },
    })
    await apply('discovery.k8s.io/v1', 'EndpointSlice', 'cart-1', {
      metadata: { labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: peers.web }],
      endpoints: [{ addresses: [ADDRESS], targetRef: { kind: 'Pod', name: 'cart' }, conditions: { ready: true } }],
    })
    const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
    await apply(GATEWAY_API, 'Gateway', 'web', { spec: { gatewayClassName: 'gw', listeners } })
    const rules = [{ backendRefs: [{ name: 'cart', port: 80 }] }]
    await apply(GATEWAY_API, 'HTTPRoute', 'cart', { spec: { parentRefs: [{ name: 'web' }], rules } })
  }

  function rendered(): RenderedConfig | undefined {
    // For the admin server.
    const { gateways } = operator.operator.describe() as { gateways: Record<string, RenderedConfig> }
    return gateways['shop/web']
  }

  async function served(): Promise<void> {
    const get = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/path`)).text()
    await vi.waitFor(async () => expect(await get()).toBe('go GET /path 0'), WAIT)
  }

  it('calls a Pod that the controller has detected, with certificates of istiod on both sides', async () => {
    expect(rendered()?.workloads).toMatchObject([{ protocol: 'HBONE', serviceAccount: 'cart', addresses: [ADDRESS] }])
    await served()
    const { config } = (await (await fetch(`http://127.0.0.1:${proxy.proxy.ports.admin}/config_dump`)).json()) as {
      config: { mesh: { spiffeId: string } } // of a running proxy
    }
    expect(config.mesh.spiffeId).toBe('spiffe://cluster.local/ns/shop/sa/web')
  })

  it.each<[string, () => Promise<Partial<MeshSettings>>, string]>([
    ['another trust domain', async () => ({ trustDomain: 'b.example' }), 'check the trust domain'],
    ['another account', async () => ({ serviceAccount: 'cart' }), 'spiffe://cluster.local/ns/shop/sa/web'],
    [
      'a token for another audience',
      async () => {
        const tokenFile = join(folder, 'other-audience')
        writeFileSync(tokenFile, await tokenOf('web', 'vault'))
        return { tokenFile }
      },
      'authenticate failure',
    ],
  ])('gets no certificate from istiod with %s', async (_, changes, message) => {
    const client = new CaClient({ settings: { ...mesh, ...(await changes()) } })
    await expect(client.request(AbortSignal.timeout(WAIT.timeout))).rejects.toThrow(message)
  })

  it('serves while istiod is down, reports it, and gets a certificate when it is back', async () => {
    const heard: (string | undefined)[] = []
    proxy.proxy.onMeshTrouble((message) => void heard.push(message))
    await stopIstiod()
    // Another text of the roots makes the proxy request a certificate.
    writeFileSync(mesh.rootFile, `${await rootsOfMesh()}\n`)
    await vi.waitFor(() => expect(heard.at(-1)).toMatch(/^its certificate ends at .*ECONNREFUSED/), WAIT)
    await served()
    await startIstiod()
    await vi.waitFor(() => expect(heard.at(-1)).toBeUndefined(), WAIT)
    await served()
  }, 180_000)
})
