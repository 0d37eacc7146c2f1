import { describe, expect, it } from 'vitest'
import { safeName } from '#api/delivery/names.ts'
import type { KubeObject } from './kube-object.ts'
import { objectsToPrune, OWNED_KINDS, pruneSelector } from './owned-kinds.ts'

const gateway = { metadata: { name: 'gw', namespace: 'apps', uid: 'u1' } }

interface Options {
  readonly name?: string
  readonly label?: string
  readonly uid?: string
  readonly isController?: boolean
  readonly namespace?: string
}

function live(kind: string, options: Options = {}): KubeObject {
  const { name = 'gw', label = 'gw', uid = 'u1', isController = true, namespace = 'apps' } = options
  const apiVersion = OWNED_KINDS.find((each) => each.kind === kind)?.apiVersion ?? 'autoscaling.k8s.io/v1'
  const owner = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    name: 'gw',
    uid,
    controller: isController,
  }
  const labels = { 'gateway.networking.k8s.io/gateway-name': label }
  return { apiVersion, kind, metadata: { name, namespace, labels, ownerReferences: [owner] } }
}

const budget = live('PodDisruptionBudget')
const scaler = live('HorizontalPodAutoscaler')
const deployment = live('Deployment')
const daemonSet = live('DaemonSet')

describe('pruneSelector', () => {
  it('is the label of the Gateway', () => {
    expect(pruneSelector('gw')).toBe('gateway.networking.k8s.io/gateway-name=gw')
  })

  it('uses the safe name of a long one', () => {
    const name = 'g'.repeat(64)
    expect(pruneSelector(name)).toBe(`gateway.networking.k8s.io/gateway-name=${safeName(name)}`)
  })
})

describe('objectsToPrune', () => {
  it.each<[string, KubeObject[], KubeObject[], KubeObject[]]>([
    ['a budget that is not wanted', [budget], [deployment], [budget]],
    ['nothing when all is wanted', [budget, deployment], [budget, deployment], []],
    ['several at once', [budget, scaler], [deployment], [budget, scaler]],
    ['some of several', [budget, scaler], [budget], [scaler]],
    ['nothing when nothing is there', [], [deployment], []],
    ['all when nothing is wanted', [budget, scaler, deployment], [], [budget, scaler, deployment]],
    ['the Deployment after a switch', [deployment, scaler], [daemonSet], [deployment, scaler]],
    ['the DaemonSet after a switch back', [daemonSet], [deployment], [daemonSet]],
    ['never a Service or ServiceAccount', [live('Service'), live('ServiceAccount'), live('Secret')], [], []],
    ['never a kind it does not know', [live('VerticalPodAutoscaler')], [], []],
    ['never what another Gateway of that name made', [live('Deployment', { uid: 'u0' })], [], []],
    ['never what has the label and no controller', [live('Deployment', { isController: false })], [], []],
    ['never what has another label', [live('Deployment', { label: 'other' })], [], []],
    ['never what is in another namespace', [live('Deployment', { namespace: 'other' })], [], []],
  ])('removes %s', (_, present, wanted, pruned) => {
    expect(objectsToPrune(present, { gateway, wanted })).toEqual(pruned)
  })

  it('removes an object of the same kind and another name', () => {
    const former = live('Deployment', { name: 'former' })
    expect(objectsToPrune([former, deployment], { gateway, wanted: [deployment] })).toEqual([former])
  })

  it('knows the safe name of a long Gateway', () => {
    const name = 'g'.repeat(64)
    const object = live('Deployment', { label: safeName(name) })
    expect(objectsToPrune([object], { gateway: { metadata: { ...gateway.metadata, name } }, wanted: [] })).toEqual([
      object,
    ])
  })
})
