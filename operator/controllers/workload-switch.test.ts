// A Gateway whose parameters ask for the other workload kind: the former proxies go when the new ones are available.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'

const PLURALS = { Deployment: 'deployments.apps', DaemonSet: 'daemonsets.apps' } as const
type Kind = keyof typeof PLURALS

let kube: FakeKube
let operator: TestOperator

beforeEach(async () => {
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  operator = await testOperator({ config: configFor(kube.url) })
  ask('Deployment')
  kube.store.create('gateways.gateway.networking.k8s.io', {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      gatewayClassName: 'gw',
      infrastructure: { parametersRef: { group: 'gw.dev', kind: 'GwParameters', name: 'web' } },
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    },
  })
  await until('the Deployment', () => live('Deployment') !== undefined)
})

afterEach(async () => {
  await operator.stop()
  await kube.stop()
})

function ask(kind: Kind): void {
  const metadata = { name: 'web', namespace: 'shop' }
  const spec = { workload: { kind } }
  kube.store.apply('gwparameters.gw.dev', { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata, spec }, 'me')
}

function live(kind: Kind): FakeObject | undefined {
  return kube.store.get(PLURALS[kind], 'shop/web')
}

/** As the controllers of a cluster say it. */
async function says(kind: Kind, status: object): Promise<void> {
  await until(`the ${kind}`, () => live(kind) !== undefined)
  const object = live(kind) as FakeObject // waited for
  kube.store.update(PLURALS[kind], { ...object, status: { observedGeneration: 1, ...status } }, true)
}

async function isQuiet(): Promise<void> {
  await until('nothing to do', () => operator.operator.isIdle())
}

describe('a change of workload.kind', () => {
  it('keeps the Deployment until the DaemonSet has as many pods, and reports it', async () => {
    await says('Deployment', { availableReplicas: 2 })
    ask('DaemonSet')
    await says('DaemonSet', { desiredNumberScheduled: 3, numberAvailable: 1 })
    await isQuiet()
    expect(live('Deployment')).toBeDefined()
    expect(operator.log.filter((line) => line.includes('former proxies stay'))).toEqual([
      expect.stringContaining('Deployment/web'),
    ])
    await says('DaemonSet', { desiredNumberScheduled: 3, numberAvailable: 2 })
    await until('the Deployment to go', () => live('Deployment') === undefined)
    expect(live('DaemonSet')).toBeDefined()
  })

  it('that is reverted does not change the former workload', async () => {
    await says('Deployment', { availableReplicas: 1 })
    const { uid } = (live('Deployment') as FakeObject).metadata // says waited for it
    ask('DaemonSet')
    await says('DaemonSet', { desiredNumberScheduled: 1 })
    ask('Deployment')
    await until('the DaemonSet to go', () => live('DaemonSet') === undefined)
    expect(live('Deployment')?.metadata.uid).toBe(uid)
  })

  it('does not wait if the workload has no pods', async () => {
    ask('DaemonSet')
    await until('the Deployment to go', () => live('Deployment') === undefined)
    expect(live('DaemonSet')).toBeDefined()
  })
})
