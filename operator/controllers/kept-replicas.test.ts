import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../translate/kube.ts'
import { keptReplicas } from './kept-replicas.ts'

const MANAGER = 'gw.dev/controller'
const OURS = { manager: MANAGER, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }

function deployment(spec: object, metadata: object = {}): KubeObject {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', ...metadata },
    spec,
  }
  return object
}

const SCALER: KubeObject = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'shop' },
}

const object = deployment({ template: {} })
const live = deployment({ replicas: 3, template: {} }, { uid: 'u1', managedFields: [OURS] })
const wanted = [object, SCALER]

describe('keptReplicas', () => {
  it('are those of parameters that leave the number to an autoscaler', () => {
    expect(keptReplicas({ object, live, manager: MANAGER, wanted })).toEqual(deployment({ replicas: 3 }, { uid: 'u1' }))
  })

  const managed = (managedFields: unknown): KubeObject => deployment({ replicas: 3 }, { uid: 'u1', managedFields })
  const scaled = (replicas: number): KubeObject => deployment({ replicas }, { uid: 'u1', managedFields: [OURS] })
  it.each<[string, Partial<Parameters<typeof keptReplicas>[0]>]>([
    ['without an autoscaler', { wanted: [object] }],
    ['while parameters give a number', { object: deployment({ replicas: 5 }) }],
    ['of a new Deployment', { live: undefined }],
    ['that another manager wrote', { live: managed([{ ...OURS, manager: 'kube-controller-manager' }]) }],
    ['that we wrote in another way', { live: managed([{ ...OURS, operation: 'Update' }]) }],
    ['that we have not written', { live: managed([{ ...OURS, fieldsV1: { 'f:spec': {} } }]) }],
    ['without managers', { live: managed(undefined) }],
    ['of the default', { live: scaled(1) }],
    ['of none, which an autoscaler would leave alone', { live: scaled(0) }],
    ['of another kind', { object: { ...object, kind: 'DaemonSet' } }],
  ])('are not kept: %s', (_, change) => {
    expect(keptReplicas({ object, live, manager: MANAGER, wanted, ...change })).toBeUndefined()
  })
})
