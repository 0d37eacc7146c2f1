// The proxy with the real thing: the certificate authority of Istio, its HBONE client and its HBONE server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CaClient } from '#proxy/mesh/ca-client.ts'
import type { MeshSettings } from '#proxy/mesh/settings.ts'
import { configOf, startTlsProxy, type TlsTestProxy } from '#proxy/tls/proxy.testing.ts'
import { freePort } from '#test/ports.ts'
import { type Peers, startPeers, stopPeers } from './peers.ts'

/** The proxy reads the roots every 10 s. */
const WAIT = { timeout: 40_000 }
const SERVED = '200 go GET /again 0'
const BROKEN = /^50[23] /
const TOKEN = 'the-token'
const OWN = 'spiffe://cluster.local/ns/apps/sa/web'
const CART = 'spiffe://cluster.local/ns/shop/sa/cart'

let peers: Peers
let proxy: TlsTestProxy
let folder: string
let mesh: MeshSettings
let ports: { readonly http: number; readonly hbone: number }

describe('with peers of Istio', () => {
  beforeAll(async () => {
    peers = await startPeers([TOKEN, OWN, CART])
    folder = mkdtempSync(join(tmpdir(), 'gw-istio-'))
    const [tokenFile, rootFile] = [join(folder, 'token'), join(folder, 'root')]
    writeFileSync(tokenFile, TOKEN)
    writeFileSync(rootFile, peers.root)
    ports = { http: await freePort(), hbone: await freePort() }
    mesh = {
      ca: { host: 'localhost', port: peers.ca },
      trustDomain: 'cluster.local',
      additionalTrustDomains: [],
      namespace: 'apps',
      serviceAccount: 'web',
      clusterId: 'Kubernetes',
      tunnelPort: peers.tunnels,
      tokenFile,
      rootFile,
    }
    const listeners = [
      { name: 'http', port: ports.http, protocol: 'HTTP', backends: [['cart', 1]] },
      { name: 'hbone', port: ports.hbone, protocol: 'HBONE', tls: { mesh: 'Mutual' } },
    ] as const
    proxy = await startTlsProxy({ listeners }, 1, { mesh })
    const config = configOf({ listeners })
    const place = { namespace: 'shop', hostname: 'cart.shop.svc.cluster.local' }
    const applied = await proxy.proxy.apply(
      {
        ...config,
        routes: config.routes.map((route) => ({
          ...route,
          backends: [{ weight: 1, ref: { service: { ...place, port: 80 } } }],
        })),
        services: [{ name: 'cart', ...place, ports: [{ port: 80 }] }],
        workloads: [
          {
            uid: 'cart',
            namespace: 'shop',
            serviceAccount: 'cart',
            protocol: 'HBONE',
            addresses: ['127.0.0.1'],
            healthy: true,
            services: [{ ...place, ports: [{ port: 80, targetPort: peers.web }] }],
          },
        ],
      },
      { version: 1, secrets: [] },
    )
    if ('problem' in applied) throw new Error(applied.problem.message)
  })
  afterAll(async () => {
    await proxy.stop()
    await stopPeers()
    rmSync(folder, { recursive: true, force: true })
  })

  it('gets a certificate from the authority of Istio', async () => {
    await vi.waitFor(async () => expect(await state()).toBe('valid'), { timeout: 10_000 })
    const { config } = (await dump()) as { config: { mesh: { spiffeId: string } } } // of a running proxy
    expect(config.mesh.spiffeId).toBe(OWN)
  })

  it.each<[string, () => Partial<MeshSettings>, string]>([
    ['another trust domain', () => ({ trustDomain: 'b.example' }), 'check the trust domain'],
    ['another cluster', () => ({ clusterId: 'other' }), 'authenticate failure'],
    ['another token', () => ({ tokenFile: join(folder, 'root') }), 'contains no valid token'],
    ['another host in its address', () => ({ ca: { host: '127.0.0.1', port: peers.ca } }), '127.0.0.1'],
  ])('gets no certificate from it with %s', async (_, changes, message) => {
    const client = new CaClient({ settings: { ...mesh, ...changes() } })
    await expect(client.request(new AbortController().signal)).rejects.toThrow(message)
  })

  it('sends requests through the HBONE server of Istio', async () => {
    const body = 'x'.repeat(1_000_000)
    const response = await fetch(`http://127.0.0.1:${ports.http}/path`, { method: 'POST', body })
    expect(await response.text()).toBe('go POST /path 1000000')
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => (await fetch(`http://127.0.0.1:${ports.http}/${at}`)).text()),
    )
    expect(answers).toEqual(Array.from({ length: 20 }, (_, at) => `go GET /${at} 0`))
  })

  it.each(['expired', 'domain', 'root'])(
    'sends nothing to a workload whose certificate is wrong: %s',
    async (wrong) => {
      await control(`present=${wrong}`)
      await vi.waitFor(async () => expect(await get()).toMatch(BROKEN), WAIT)
      await control('present=valid')
      await vi.waitFor(async () => expect(await get()).toBe(SERVED), WAIT)
    },
  )

  it('keeps serving while the authority is down, and reports it until it is back', async () => {
    const heard: (string | undefined)[] = []
    proxy.proxy.onMeshTrouble((message) => void heard.push(message))
    await control('ca=down')
    // Other root certificates make the proxy request a certificate; these contain the valid one as well.
    writeFileSync(mesh.rootFile, peers.otherRoot + peers.root)
    await vi.waitFor(() => expect(heard.at(-1)).toContain('authenticate failure'), WAIT)
    expect(heard.at(-1)).toMatch(/^its certificate ends at /)
    await vi.waitFor(async () => expect(await get()).toBe(SERVED), WAIT)
    await control('ca=up')
    await vi.waitFor(() => expect(heard.at(-1)).toBeUndefined(), WAIT)
  })

  it('trusts no workload of a root that was revoked', async () => {
    writeFileSync(mesh.rootFile, peers.otherRoot)
    await vi.waitFor(async () => expect(await get()).toMatch(BROKEN), WAIT)
    writeFileSync(mesh.rootFile, peers.root)
    await vi.waitFor(async () => expect(await get()).toBe(SERVED), WAIT)
  })

  it('serves the HBONE client of Istio', async () => {
    const query = `tunnel=127.0.0.1:${ports.hbone}&to=10.0.0.1:${ports.http}`
    const response = await fetch(`http://127.0.0.1:${peers.control}/?${query}`)
    expect(await response.text()).toBe('go GET / 0')
  })
})

async function control(query: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${peers.control}/?${query}`)).text()
}

async function get(): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${ports.http}/again`)
  return `${response.status} ${await response.text()}`
}

async function dump(): Promise<unknown> {
  return (await fetch(`http://127.0.0.1:${proxy.proxy.ports.admin}/config_dump`)).json()
}

async function state(): Promise<unknown> {
  const { config } = (await dump()) as { config: { mesh: { state: string } } } // of a running proxy
  return config.mesh.state
}
