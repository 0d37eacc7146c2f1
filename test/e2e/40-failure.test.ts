// Failures of a proxy, the controller, the API server: traffic continues, and changes in the meantime are applied
// later.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLoad, stopLoad, until } from './suite/client.ts'
import { applyObject, get, type KubeObject, kubectl, list, remove, rolledOut, waitFor } from './suite/kubectl.ts'
import { NAMESPACE, proxyCount, serviceOf, themeFile, useSample } from './suite/samples.ts'

const SYSTEM = 'gw-system'
const HOST = 'www.example.com'
const URL_ = `http://${serviceOf('http')}/`
const LOAD = { url: URL_, host: HOST, ratePerSecond: 50, timeoutMs: 10_000 }

const ONE_BACKEND_AT_A_TIME = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'demo', namespace: NAMESPACE },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'demo' } } },
}

beforeAll(async () => {
  await useSample('http')
  await until({ url: URL_, host: HOST }, { status: 200 })
})

afterAll(async () => {
  await remove(themeFile('http'))
})

/** The rewritten prefix of the route: a change that traffic shows. */
async function rewriteTo(prefix: string): Promise<void> {
  const path = '/spec/rules/1/filters/0/urlRewrite/path/replacePrefixMatch'
  const patch = JSON.stringify([{ op: 'replace', path, value: prefix }])
  await kubectl(['patch', 'httproute', '-n', NAMESPACE, 'http', '--type', 'json', '-p', patch])
}

const shows = (prefix: string): Promise<unknown> =>
  until({ url: `${URL_}api/x`, host: HOST }, { status: 200, includes: [`"path":"${prefix}/x"`] }, { withinMs: 60_000 })

function nodeOf(pod: KubeObject | undefined): string {
  const name = pod?.spec?.['nodeName']
  return typeof name === 'string' ? name : ''
}

/** Name of the pod that holds the Lease and is not `former`; waits for it. */
async function leader(former = ''): Promise<string> {
  return waitFor('a leader', async () => {
    const lease = await get('leases.coordination.k8s.io', SYSTEM, 'gw-gw')
    const holder = lease?.spec?.['holderIdentity']
    return typeof holder !== 'string' || holder === '' || holder === former ? undefined : holder
  })
}

/** Kills it, with a change in the meantime; returns when another pod leads. */
async function killLeader(meanwhile: () => Promise<void>): Promise<void> {
  const former = await leader()
  const killedAt = performance.now()
  await kubectl(['delete', 'pod', '-n', SYSTEM, former, '--grace-period=0', '--force', '--wait=false'])
  await meanwhile()
  const next = await leader(former)
  console.log(`${next} leads ${Math.round(performance.now() - killedAt)} ms after the end of ${former}`)
}

/** Ends the load. Returns its failures; tests expect an empty list. */
async function failures(): Promise<readonly string[]> {
  const summary = await stopLoad()
  console.log(`load: ${JSON.stringify(summary)}`)
  return summary.failed === 0 ? summary.failures : [`${summary.failed} of ${summary.sent}`, ...summary.failures]
}

describe('failures', () => {
  it('a killed proxy is replaced', async () => {
    const [pod] = await proxyCount('http', 1)
    const name = pod?.metadata.name ?? ''
    await kubectl(['delete', 'pod', '-n', NAMESPACE, name, '--grace-period=0', '--force'])
    const [next] = await proxyCount('http', 1)
    expect(next?.metadata.name).not.toBe(name)
    await until({ url: URL_, host: HOST }, { status: 200 }, { times: 20 })
  })

  it('a drained node of a backend costs no request', async () => {
    await rolledOut('deployment', NAMESPACE, 'demo')
    // As in a node drain: one backend ends when another one is ready.
    await applyObject(ONE_BACKEND_AT_A_TIME)
    const node = nodeOf((await list('pods', '-n', NAMESPACE, '-l', 'app=demo'))[0])
    await startLoad({ ...LOAD, ratePerSecond: 200 })
    try {
      // Proxy and client do not move: the test is about backends.
      await kubectl(['drain', node, '--pod-selector=app=demo', '--ignore-daemonsets', '--timeout=120s'])
      await rolledOut('deployment', NAMESPACE, 'demo')
    } finally {
      await kubectl(['uncordon', node])
      await kubectl(['delete', 'poddisruptionbudget', '-n', NAMESPACE, 'demo'])
    }
    expect(await failures()).toEqual([])
  })

  it('traffic does not need a killed controller, and its successor applies the changes', async () => {
    await startLoad(LOAD)
    await killLeader(() => rewriteTo('/killed'))
    await shows('/killed')
    expect(await failures()).toEqual([])
    await rolledOut('deployment', SYSTEM, 'gw-controller')
  })

  it('with two controllers the other one becomes the leader', async () => {
    await kubectl(['scale', 'deployment', '-n', SYSTEM, 'gw-controller', '--replicas=2'])
    await rolledOut('deployment', SYSTEM, 'gw-controller')
    await startLoad(LOAD)
    await killLeader(() => rewriteTo('/taken-over'))
    await shows('/taken-over')
    expect(await failures()).toEqual([])
    await kubectl(['scale', 'deployment', '-n', SYSTEM, 'gw-controller', '--replicas=1'])
    await rolledOut('deployment', SYSTEM, 'gw-controller')
  })

  it('traffic does not need the controller, which later applies the changes', async () => {
    await startLoad(LOAD)
    await kubectl(['scale', 'deployment', '-n', SYSTEM, 'gw-controller', '--replicas=0'])
    await waitFor('the controller to end', async () =>
      (await list('pods', '-n', SYSTEM)).length === 0 ? true : undefined,
    )
    await rewriteTo('/changed')
    await until({ url: URL_, host: HOST }, { status: 200 }, { times: 20 })
    await kubectl(['scale', 'deployment', '-n', SYSTEM, 'gw-controller', '--replicas=1'])
    await rolledOut('deployment', SYSTEM, 'gw-controller')
    await shows('/changed')
    expect(await failures()).toEqual([])
  })

  it('a new proxy starts without the controller', async () => {
    await kubectl(['scale', 'deployment', '-n', SYSTEM, 'gw-controller', '--replicas=0'])
    const [pod] = await proxyCount('http', 1)
    await kubectl(['delete', 'pod', '-n', NAMESPACE, pod?.metadata.name ?? ''])
    const [next] = await proxyCount('http', 1)
    expect(next?.metadata.name).not.toBe(pod?.metadata.name)
    await until({ url: URL_, host: HOST }, { status: 200 }, { times: 20 })
    await kubectl(['scale', 'deployment', '-n', SYSTEM, 'gw-controller', '--replicas=1'])
    await rolledOut('deployment', SYSTEM, 'gw-controller')
  })

  it('traffic does not need the API server', async ({ skip }) => {
    const cluster = process.env['GW_E2E_CLUSTER'] ?? ''
    skip(cluster === '', 'only in a cluster of kind: its API server can be ended')
    await startLoad(LOAD)
    const node = `${cluster}-control-plane`
    const server = execFileSync('docker', ['exec', node, 'pgrep', '-o', 'kube-apiserver'], { encoding: 'utf8' }).trim()
    execFileSync('docker', ['exec', node, 'kill', '-9', server])
    await waitFor('the API server', async () => (await kubectl(['get', '--raw', '/readyz'])) || undefined, 180_000)
    await waitFor('a change to be accepted', async () => rewriteTo('/after').then(() => true), 60_000)
    await shows('/after')
    expect(await failures()).toEqual([])
    await rolledOut('deployment', SYSTEM, 'gw-controller')
  })
})
