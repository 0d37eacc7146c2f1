// The NetworkPolicies of config/components/network-policy: the API server accepts them, traffic and readiness continue.
// The network of the test cluster does not enforce them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { until } from './suite/client.ts'
import { applyObject, get, kubectl, remove, rolledOut } from './suite/kubectl.ts'
import { NAMESPACE, programmed, proxyCount, serviceOf, themeFile, useSample } from './suite/samples.ts'

interface Policy {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: unknown
}

const QUESTION = { url: `http://${serviceOf('http')}/`, host: 'www.example.com' }
const CONTROLLER = 'gw-controller'
const PROXIES = 'gw-proxies'

beforeAll(async () => {
  await useSample('http')
  await programmed('http')
  await until(QUESTION, { status: 200 })
})

afterAll(async () => {
  await kubectl(['delete', 'networkpolicy', '-n', 'gw-system', CONTROLLER, '--ignore-not-found'])
  await kubectl(['delete', 'networkpolicy', '-n', NAMESPACE, PROXIES, '--ignore-not-found'])
  await remove(themeFile('http'))
})

describe('NetworkPolicies', () => {
  it('do not affect traffic and readiness', async () => {
    const text = await kubectl(['kustomize', 'config/overlays/network-policy'])
    const all = parseAllDocuments(text).map((document): Policy => document.toJS())
    const policies = all.filter(({ kind }) => kind === 'NetworkPolicy')
    expect(policies.map(({ metadata }) => metadata.name).toSorted()).toEqual([CONTROLLER, PROXIES])
    for (const policy of policies) {
      const namespace = policy.metadata.name === PROXIES ? NAMESPACE : policy.metadata.namespace
      await applyObject({ ...policy, metadata: { ...policy.metadata, namespace } })
    }
    const [pod] = await proxyCount('http', 1)
    await kubectl(['delete', 'pod', '-n', NAMESPACE, pod?.metadata.name ?? ''])
    await proxyCount('http', 1)
    await until(QUESTION, { status: 200 }, { times: 20 })
    await kubectl(['rollout', 'restart', '-n', 'gw-system', `deployment/${CONTROLLER}`])
    await rolledOut('deployment', 'gw-system', CONTROLLER)
    expect(await get('networkpolicy', NAMESPACE, PROXIES)).toBeDefined()
  })
})
