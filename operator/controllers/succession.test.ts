import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../translate/kube.ts'
import { Succession } from './succession.ts'

const MINUTE_MS = 60_000

function deployment(availableReplicas: number | undefined, spec: object = {}): KubeObject {
  return workload('Deployment', availableReplicas === undefined ? {} : { availableReplicas }, spec)
}

function daemonSet(status: object): KubeObject {
  return workload('DaemonSet', status)
}

function workload(kind: string, status: object, spec: object = {}): KubeObject {
  const object = { apiVersion: 'apps/v1', kind, metadata: { name: 'web', namespace: 'shop' }, spec, status }
  return object
}

const budget: KubeObject = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'shop' },
}

function goes(old: KubeObject, successor: KubeObject | undefined, wanted: KubeObject = daemonSet({})): boolean {
  const settled = new Succession().settle({ unwanted: [old], wanted: [wanted], find: () => successor, nowMs: 0 })
  return settled.length === 1
}

describe('a former workload', () => {
  it.each<[string, KubeObject, KubeObject | undefined, boolean]>([
    ['stays until the new one is there', deployment(2), undefined, false],
    ['stays until the new one was looked at', deployment(2), daemonSet({}), false],
    ['stays while no node takes the new one', deployment(2), daemonSet({ desiredNumberScheduled: 0 }), false],
    ['stays while pods start', deployment(2), daemonSet({ desiredNumberScheduled: 3, numberAvailable: 1 }), false],
    ['goes with one for each', deployment(2), daemonSet({ desiredNumberScheduled: 3, numberAvailable: 2 }), true],
    ['goes with all that come', deployment(5), daemonSet({ desiredNumberScheduled: 3, numberAvailable: 3 }), true],
    ['goes when it serves nothing', deployment(0), daemonSet({ desiredNumberScheduled: 3 }), true],
    ['goes where nothing runs workloads', deployment(undefined), daemonSet({}), true],
    ['is a DaemonSet that stays', daemonSet({ numberAvailable: 3 }), deployment(0), false],
    ['is a DaemonSet that goes: one is the default', daemonSet({ numberAvailable: 3 }), deployment(1), true],
    ['is a DaemonSet that waits for two', daemonSet({ numberAvailable: 3 }), deployment(1, { replicas: 2 }), false],
    ['goes for one that is scaled to zero', daemonSet({ numberAvailable: 3 }), deployment(0, { replicas: 0 }), true],
  ])('%s', (_, old, successor, isGoing) => {
    expect(goes(old, successor, successor ?? daemonSet({}))).toBe(isGoing)
  })

  it('is removed at once if it is not a Deployment or DaemonSet', () => {
    expect(goes(budget, undefined)).toBe(true)
  })

  it('of another name is removed in the same way, and at once if no workload is expected', () => {
    const succession = new Succession()
    expect(succession.settle({ unwanted: [deployment(2)], wanted: [], find: () => undefined, nowMs: 0 })).toHaveLength(
      1,
    )
    expect(succession.isWaiting).toBe(false)
  })

  it('stays ten minutes at most, counted from the first check', () => {
    const succession = new Succession()
    const look = (nowMs: number): number =>
      succession.settle({ unwanted: [deployment(1)], wanted: [daemonSet({})], find: () => undefined, nowMs }).length
    expect([look(5), look(10 * MINUTE_MS + 4), succession.isWaiting]).toEqual([0, 0, true])
    expect([look(10 * MINUTE_MS + 5), succession.isWaiting]).toEqual([1, false])
    expect([look(10 * MINUTE_MS + 6), succession.isWaiting]).toEqual([0, true])
  })
})
