// The sample of the mesh in a cluster: controller and proxy of this build with istiod as CA and control plane, and with
// workloads that use Istio's HBONE client and server. All of them are Pods.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { send, startLoad, stopLoad, until } from '../../e2e/suite/client.ts'
import {
  applyObject,
  type Condition,
  conditionOf,
  get,
  kubectl,
  list,
  rolledOut,
  waitFor,
} from '../../e2e/suite/kubectl.ts'
import { programmed } from '../../e2e/suite/samples.ts'
import {
  getThroughTunnel,
  installIstiod,
  makeAuthority,
  meshSample,
  NAMESPACE,
  newRoot,
  restartIstiod,
  scaleIstiod,
  startWorkload,
  SYSTEM,
  useAuthority,
} from './istio.ts'
import { loadProgram } from './programs.ts'

const GATEWAY = 'mesh'
const HOST = `${GATEWAY}.${NAMESPACE}.svc.cluster.local`
const URL_ = `http://${HOST}/path`
const TUNNEL = { tunnel: `${HOST}:15008`, url: URL_ }
const BROKEN = [502, 503]
const OWN = `spiffe://cluster.local/ns/${NAMESPACE}/sa/${GATEWAY}`
const CLIENT = `spiffe://cluster.local/ns/${NAMESPACE}/sa/client`
const PARTNER = 'spiffe://partner.example/ns/shop/sa/web'
const STRANGER = 'spiffe://stranger.example/ns/shop/sa/web'
const SERVED = { status: 200, includes: [`GET /path through a tunnel of ${OWN}`] }
/** The handshake fails after the client has verified the proxy. */
const REFUSED = { server: OWN, error: expect.any(String) }
const DAY_MS = 86_400_000
/** The proxy renews such a certificate after 80 to 120 s, and the next one 40 to 70 s later. */
const SHORT_MS = 240_000
/** The kubelet copies a changed ConfigMap to Pods within a minute and a half. */
const ROOTS_MS = 180_000
const LOAD = { url: URL_, host: HOST, ratePerSecond: 50, freshEvery: 10, timeoutMs: 5000 }

const AUTHORITY = 'authority'

const root = newRoot()

beforeAll(async () => {
  const [istiod, workload] = [process.env['GW_MESH_ISTIOD'] ?? '', process.env['GW_MESH_WORKLOAD'] ?? '']
  const images = { istiod: await loadProgram(istiod), workload: await loadProgram(workload) }
  await applyObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } })
  await useAuthority(root, DAY_MS)
  await installIstiod(images.istiod)
  for (const object of [...meshSample(), namesPeers(), strangersRoute(), strangersService()]) await applyObject(object)
  await makeAuthority({ root, lifetimeMs: DAY_MS, namespace: NAMESPACE, name: AUTHORITY })
  const pod = { image: images.workload, authority: AUTHORITY }
  await startWorkload({ ...pod, name: 'echo' })
  await startWorkload({ ...pod, name: 'client' })
  await startWorkload({ ...pod, name: 'stranger', identity: STRANGER })
  await programmed(GATEWAY, NAMESPACE)
}, 600_000)

afterAll(async () => {
  await kubectl(['delete', 'namespace', NAMESPACE, SYSTEM, '--ignore-not-found', '--timeout', '170s'])
  await kubectl(['delete', 'clusterrolebinding', 'istiod-of-test', '--ignore-not-found'])
}, 300_000)

/** Responses name the client of the mesh. */
function namesPeers(): object {
  const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: GATEWAY }]
  const response = { set: [{ name: 'x-peer', value: 'source.spiffeId' }] }
  const spec = { targetRefs, traffic: { transformation: { response } } }
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwPolicy', metadata: { name: 'peers', namespace: NAMESPACE }, spec }
}

function strangersRoute(): object {
  const matches = [{ path: { type: 'PathPrefix', value: '/stranger' } }]
  const rules = [{ matches, backendRefs: [{ name: 'stranger', port: 80 }] }]
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'stranger', namespace: NAMESPACE },
    spec: { parentRefs: [{ name: GATEWAY, sectionName: 'http' }], rules },
  }
}

function strangersService(): object {
  const spec = { selector: { app: 'stranger' }, ports: [{ port: 80, targetPort: 8080 }] }
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'stranger', namespace: NAMESPACE }, spec }
}

async function setMesh(meshIntegration: object): Promise<void> {
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/meshIntegration', value: meshIntegration }])
  await kubectl(['patch', 'gwparameters', '-n', NAMESPACE, 'mesh', '--type', 'json', '-p', patch])
}

async function waitForTrouble(isExpected: (condition: Condition | undefined) => boolean): Promise<void> {
  let last: Condition | undefined
  const ask = async (): Promise<true | undefined> => {
    last = conditionOf(await get('gateway', NAMESPACE, GATEWAY), 'gw.dev/MeshUnavailable')
    return isExpected(last) ? true : undefined
  }
  await waitFor('the condition gw.dev/MeshUnavailable', ask, 240_000).catch((error: unknown) => {
    throw new Error(`${String(error)}; the last one: ${JSON.stringify(last)}`, { cause: error })
  })
}

/** Metrics of the only proxy. */
async function certificates(): Promise<{ readonly endMs: number; readonly succeeded: number }> {
  const pods = await list('pods', '-n', NAMESPACE, '-l', `gateway.networking.k8s.io/gateway-name=${GATEWAY}`)
  const addresses = pods.map(({ status }) => String(status?.['podIP']))
  expect(addresses).toHaveLength(1)
  const { body = '' } = await send({ url: `http://${addresses[0]}:15020/metrics` })
  const value = (name: string): number =>
    Number(
      body
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')[1],
    )
  return {
    endMs: value('gw_mesh_certificate_expiration_timestamp_seconds') * 1000,
    succeeded: value('gw_mesh_certificate_requests_total{result="succeeded"}'),
  }
}

describe('a Gateway in the mesh', () => {
  it('calls a workload through a tunnel, with certificates of istiod on both sides', async () => {
    // The Pod may have started before istiod wrote the roots into its namespace.
    const { headers } = await until({ url: URL_ }, SERVED, { withinMs: ROOTS_MS, times: 20 })
    // The client of the test is no workload of the mesh.
    expect(headers).not.toHaveProperty('x-peer')
  })

  it('serves the HBONE client of a workload, and reads its identity', async () => {
    expect(await getThroughTunnel('client', TUNNEL)).toMatchObject({ status: 200, server: OWN, peer: CLIENT })
  })

  it('calls no workload with a certificate of another trust domain', async () => {
    expect(BROKEN).toContain((await send({ url: `http://${HOST}/stranger` })).status)
  })

  it('accepts workloads of the own trust domain and of additional ones only', async () => {
    for (const identity of [PARTNER, STRANGER]) {
      expect(await getThroughTunnel('client', { ...TUNNEL, identity })).toEqual(REFUSED)
    }
    await setMesh({ additionalTrustDomains: ['partner.example'] })
    await waitFor(
      'a tunnel of the additional trust domain',
      async () => (await getThroughTunnel('client', { ...TUNNEL, identity: PARTNER })).peer === PARTNER || undefined,
    )
    expect(await getThroughTunnel('client', { ...TUNNEL, identity: STRANGER })).toEqual(REFUSED)
    await setMesh({})
  })

  it('reports that its proxies get no certificate, stays programmed, and serves again', async () => {
    await setMesh({ trustDomain: 'wrong.example' })
    await waitForTrouble((condition) => condition?.message.includes('check the trust domain') ?? false)
    expect(conditionOf(await get('gateway', NAMESPACE, GATEWAY), 'Programmed')?.status).toBe('True')
    expect(BROKEN).toContain((await send({ url: URL_ })).status)
    await setMesh({})
    await waitForTrouble((condition) => condition === undefined)
    await until({ url: URL_ }, SERVED, { withinMs: 60_000, times: 20 })
  })

  it('renews a certificate before its end, and serves while istiod is down, until the certificate ends', async () => {
    const endsBy = Date.now() + SHORT_MS
    await useAuthority(root, SHORT_MS)
    await restartIstiod()
    await kubectl(['rollout', 'restart', '-n', NAMESPACE, `deployment/${GATEWAY}`])
    await rolledOut('deployment', NAMESPACE, GATEWAY)
    const first = await waitFor('a short certificate', async () => {
      const current = await certificates()
      return current.endMs <= endsBy + 1000 ? current : undefined
    })
    await until({ url: URL_ }, SERVED)
    await startLoad(LOAD)
    const isRenewed = async (): Promise<true | undefined> =>
      (await certificates()).succeeded > first.succeeded || undefined
    await waitFor('a renewed certificate', isRenewed, 150_000)
    await scaleIstiod(0)
    await waitForTrouble((condition) => condition?.message.includes('its certificate ends at') ?? false)
    const summary = await stopLoad()
    console.log(`load: ${JSON.stringify(summary)}`)
    expect(summary).toMatchObject({ failed: 0, statuses: { 200: summary.sent } })
    expect(Date.now()).toBeLessThan(first.endMs)
    await until({ url: URL_ }, SERVED)

    await waitForTrouble((condition) => condition?.message.includes('its certificate expired at') ?? false)
    expect(BROKEN).toContain((await send({ url: URL_ })).status)
    await useAuthority(root, DAY_MS)
    await scaleIstiod(1)
    await until({ url: URL_ }, SERVED, { withinMs: 120_000 })
    await waitForTrouble((condition) => condition === undefined)
  }, 900_000)

  it('trusts only the new root after the root of the mesh was replaced', async () => {
    // Signed with the first root, whose key the Pod has.
    const former = { ...TUNNEL, identity: CLIENT }
    expect(await getThroughTunnel('client', former)).toMatchObject({ status: 200, peer: CLIENT })
    await useAuthority(newRoot(), DAY_MS)
    await restartIstiod()
    const served = async (): Promise<true | undefined> => {
      const { server, peer, error } = await getThroughTunnel('client', TUNNEL)
      if (error !== undefined) throw new Error(error)
      return (server === OWN && peer === CLIENT) || undefined
    }
    await waitFor('a tunnel with certificates of the new root', served, ROOTS_MS)
    await until({ url: URL_ }, SERVED, { withinMs: ROOTS_MS })
    expect(await getThroughTunnel('client', former)).toEqual(REFUSED)
  }, 600_000)
})
