// Changes under load: scale, image, workload kind, certificates. No request may fail for them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoadPlan, LoadSummary } from '../../hack/demo/load.ts'
import { certificateFor } from '../certificates.ts'
import { startLoad, stopLoad, until } from './suite/client.ts'
import { secondProxyTag } from './suite/images.ts'
import { applyObject, get, kubectl, list, remove, rolledOut, waitFor } from './suite/kubectl.ts'
import { NAMESPACE, programmed, proxyCount, serviceOf, themeFile, useSample } from './suite/samples.ts'

const HOST = 'www.example.com'
const URL_ = `http://${serviceOf('http')}/`
const LOAD = { url: URL_, host: HOST, ratePerSecond: 50, timeoutMs: 10_000 }
/** Every tenth request opens a connection: kept connections would hide a proxy that rejects new ones. */
const HEAVY_LOAD = { ...LOAD, ratePerSecond: 200, freshEvery: 10 }

/** Parameters for the Gateway of the sample; the sample itself has none. */
async function parameters(spec: unknown): Promise<void> {
  await applyObject({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwParameters',
    metadata: { name: 'change', namespace: NAMESPACE },
    spec,
  })
}

/** Fields that parameters of Gateways may set; empty for the default. Images are not among them. */
async function allowedFields(list: string): Promise<void> {
  const variable = `GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS${list === '' ? '-' : `=${list}`}`
  await kubectl(['set', 'env', '-n', 'gw-system', 'deployment/gw-controller', variable])
  await rolledOut('deployment', 'gw-system', 'gw-controller')
}

/** The result of the load during the change. */
async function underLoad(change: () => Promise<void>, plan: LoadPlan = LOAD): Promise<LoadSummary> {
  await startLoad(plan)
  let summary: LoadSummary | undefined
  try {
    await change()
  } finally {
    summary = await stopLoad()
    console.log(`load: ${JSON.stringify(summary)}`)
  }
  return summary
}

beforeAll(async () => {
  await parameters({ deployment: { spec: { replicas: 1 } } })
  await useSample('http')
  const reference = { group: 'gw.dev', kind: 'GwParameters', name: 'change' }
  const patch = JSON.stringify({ spec: { infrastructure: { parametersRef: reference } } })
  await kubectl(['patch', 'gateway', '-n', NAMESPACE, 'http', '--type', 'merge', '-p', patch])
  await programmed('http')
  await until({ url: URL_, host: HOST }, { status: 200 })
})

afterAll(async () => {
  await remove(themeFile('http'))
  await kubectl(['delete', 'gwparameters', '-n', NAMESPACE, 'change', '--ignore-not-found'])
  await allowedFields('')
})

describe('changes under load', () => {
  it('scales from one proxy to three and back under heavy load', async () => {
    const { sent, failed, failures } = await underLoad(async () => {
      await parameters({ deployment: { spec: { replicas: 3 } } })
      await proxyCount('http', 3)
      await until({ url: URL_, host: HOST }, { status: 200 }, { times: 20 })
      await parameters({ deployment: { spec: { replicas: 1 } } })
      await proxyCount('http', 1)
      await until({ url: URL_, host: HOST }, { status: 200 }, { times: 20 })
    }, HEAVY_LOAD)
    expect([sent > 10 * HEAVY_LOAD.ratePerSecond, failed, failures]).toEqual([true, 0, []])
  })

  it('rolls out another image', async ({ skip }) => {
    const tag = await secondProxyTag()
    skip(tag === undefined, 'only in a cluster of kind: another image has to be loaded')
    await allowedFields('default,image.tag')
    const { sent, failures } = await underLoad(async () => {
      await parameters({ image: { tag }, deployment: { spec: { replicas: 2 } } })
      await waitFor(
        'pods of the other image',
        async () => {
          const pods = await list('pods', '-n', NAMESPACE, '-l', 'gateway.networking.k8s.io/gateway-name=http')
          const isNew = pods.every((pod) => JSON.stringify(pod.spec).includes(`:${tag}"`))
          return pods.length === 2 && isNew ? true : undefined
        },
        180_000,
      )
      await rolledOut('deployment', NAMESPACE, 'http')
    })
    expect([sent > LOAD.ratePerSecond, failures]).toEqual([true, []])
  })

  it('moves to a DaemonSet, one proxy on each node, and back', async () => {
    await parameters({ workload: { kind: 'DaemonSet' } })
    await waitFor('the DaemonSet', async () => get('daemonset', NAMESPACE, 'http'))
    await rolledOut('daemonset', NAMESPACE, 'http')
    const set = await get('daemonset', NAMESPACE, 'http')
    expect(Number(set?.status?.['numberReady'])).toBeGreaterThan(0)
    await waitFor('the Deployment to go', async () =>
      (await get('deployment', NAMESPACE, 'http')) === undefined ? true : undefined,
    )
    await until({ url: URL_, host: HOST }, { status: 200 }, { times: 20 })
    await parameters({ workload: { kind: 'Deployment' } })
    await waitFor('the Deployment', async () => get('deployment', NAMESPACE, 'http'))
    await rolledOut('deployment', NAMESPACE, 'http')
    await waitFor('the DaemonSet to go', async () =>
      (await get('daemonset', NAMESPACE, 'http')) === undefined ? true : undefined,
    )
    await until({ url: URL_, host: HOST }, { status: 200 }, { times: 20 })
  })

  it('serves a new certificate as soon as the Secret has it', async () => {
    await useSample('tls')
    const host = 'shop.example.com'
    const question = { url: `https://${serviceOf('tls')}/`, host, serverName: host }
    const before = await until(question, { status: 200 })
    const pair = certificateFor({ commonName: host, names: [`DNS:${host}`] })
    await applyObject({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'shop', namespace: NAMESPACE },
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': pair.certificate, 'tls.key': pair.privateKey },
    })
    const { X509Certificate } = await import('node:crypto')
    const fingerprint = new X509Certificate(pair.certificate).fingerprint256
    expect(before.certificate).not.toBe(fingerprint)
    await until(question, { status: 200, certificate: fingerprint }, { times: 5 })
    await remove(themeFile('tls'))
  })
})
