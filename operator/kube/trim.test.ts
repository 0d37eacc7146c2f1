// What the operator keeps of objects: enough for translation, and nothing of the bookkeeping of others.
import { describe, expect, it } from 'vitest'
import { trim } from './trim.ts'

function object(kind: string, fields: object, metadata: object = {}): Parameters<typeof trim>[0] {
  const made = { apiVersion: 'v1', kind, metadata: { name: 'one', namespace: 'shop', ...metadata }, ...fields }
  return made
}

const KEPT = { apiVersion: 'v1', metadata: { name: 'one', namespace: 'shop' } }

describe('trim', () => {
  it('drops managed fields and the copy that kubectl leaves, and keeps other annotations', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'gw.dev/x': 'y' }
    const managedFields = [{ manager: 'kubectl' }]
    const kept = trim(object('HTTPRoute', { spec: { rules: [] } }, { annotations, managedFields, selfLink: '/x' }))
    const metadata = { ...KEPT.metadata, annotations: { 'gw.dev/x': 'y' } }
    expect(kept).toEqual({ ...KEPT, kind: 'HTTPRoute', metadata, spec: { rules: [] } })
  })

  it('drops Secrets that no kind of the operator can refer to', () => {
    const secret = (type: string): unknown => trim(object('Secret', { type, data: { a: 'Yg==' }, immutable: true }))
    expect(secret('helm.sh/release.v1')).toBeUndefined()
    expect(secret('kubernetes.io/service-account-token')).toBeUndefined()
    expect(secret('Opaque')).toEqual({ ...KEPT, kind: 'Secret', type: 'Opaque', data: { a: 'Yg==' } })
  })

  it('keeps entries of a ConfigMap that may be a CA certificate, a key set, an OpenAPI document or the hash of a key', () => {
    const long = 'x'.repeat(16 * 1024 + 1)
    const data = { 'ca.crt': long, 'jwks-store': long, 'openapi.yaml': long, hash: long.slice(1), dashboard: long }
    const kept = trim(object('ConfigMap', { data, binaryData: { picture: 'AAAA' } }, { annotations: { a: 'b' } }))
    expect(kept).toEqual({ ...KEPT, kind: 'ConfigMap', data: { ...data, dashboard: '' } })
  })

  it('keeps the data of acknowledgements, and drops that of deliveries', () => {
    const labelled = (part: string, kind: string): unknown =>
      trim(object(kind, { data: { pod: '{}' } }, { labels: { 'gw.dev/delivery': part } }))
    expect(labelled('acknowledgements', 'ConfigMap')).toHaveProperty('data', { pod: '{}' })
    expect(labelled('config', 'ConfigMap')).not.toHaveProperty('data')
    expect(labelled('secrets', 'Secret')).not.toHaveProperty('data')
  })

  it('keeps addresses, readiness and place of endpoints', () => {
    const endpoint = { addresses: ['10.0.0.1'], nodeName: 'n1', zone: 'z' }
    const seen = {
      ...endpoint,
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', name: 'p', uid: 'u', namespace: 'shop' },
      hints: { forZones: [{ name: 'z' }] },
    }
    const kept = trim(object('EndpointSlice', { addressType: 'IPv4', endpoints: [seen], ports: [{ port: 80 }] }))
    const conditions = { ready: true, serving: true, terminating: false }
    const targetRef = { kind: 'Pod', name: 'p' }
    expect(kept).toMatchObject({ addressType: 'IPv4', ports: [{ port: 80 }] })
    expect(kept).toHaveProperty('endpoints', [
      { ...endpoint, conditions, targetRef, hints: { forZones: [{ name: 'z' }] } },
    ])
    expect(trim(object('EndpointSlice', { endpoints: null }))).toHaveProperty('endpoints', null)
  })

  it('keeps only the place of a Node, so that its status reports change nothing', () => {
    const labels = { 'topology.kubernetes.io/zone': 'z', 'kubernetes.io/hostname': 'n' }
    const metadata = { name: 'n', uid: 'u', resourceVersion: '7', labels, annotations: { 'a/b': 'now and then' } }
    const node = { apiVersion: 'v1', kind: 'Node', metadata, spec: { podCIDR: '10.0.0.0/24' }, status: { images: [] } }
    expect(trim(node)).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', uid: 'u', resourceVersion: '7', labels: { 'topology.kubernetes.io/zone': 'z' } },
    })
  })

  it('keeps the annotation of a Pod that Istio sets, and no other', () => {
    const annotations = { 'ambient.istio.io/redirection': 'enabled', 'cni/result': 'x'.repeat(1000) }
    const spec = { serviceAccountName: 'cart', containers: [] }
    expect(trim(object('Pod', { spec }, { annotations }))).toMatchObject({
      metadata: { annotations: { 'ambient.istio.io/redirection': 'enabled' } },
      spec: { serviceAccountName: 'cart' },
    })
    expect(trim(object('Pod', { spec }, { annotations }))).not.toHaveProperty(['metadata', 'annotations', 'cni/result'])
  })

  it('keeps the reasons why a container does not run, and drops running containers', () => {
    const conditions = [{ type: 'Ready', status: 'False' }]
    const pod = (...containerStatuses: object[]): unknown =>
      trim(object('Pod', { status: { phase: 'Pending', conditions, hostIP: '10.0.0.1', containerStatuses } }))
    const running = { name: 'gw', image: 'gw:1', ready: true, state: { running: {} }, restartCount: 3 }
    const creating = { name: 'gw', image: 'gw:1', ready: false, state: { waiting: { reason: 'ContainerCreating' } } }
    for (const fine of [running, creating, { ...running, lastState: { terminated: { exitCode: 1 } } }])
      expect(pod(fine)).toHaveProperty('status', { phase: 'Pending', conditions })
    const waiting = { reason: 'CrashLoopBackOff', message: 'x'.repeat(1000) }
    const lastState = { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: 'now' } }
    expect(pod(running, { ...creating, state: { waiting }, lastState })).toHaveProperty('status.troubles', [
      {
        name: 'gw',
        image: 'gw:1',
        waiting: { reason: 'CrashLoopBackOff', message: 'x'.repeat(512) },
        ended: { exitCode: 137, reason: 'OOMKilled', message: '' },
      },
    ])
  })

  it('keeps the conditions of a Deployment that report pods that cannot be created or are late', () => {
    const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }
    const progressing = { type: 'Progressing', status: 'True', lastUpdateTime: 'now' }
    const deployment = (...conditions: object[]): unknown =>
      trim(object('Deployment', { spec: {}, status: { readyReplicas: 1, conditions } }))
    expect(deployment(progressing, { ...failure, lastUpdateTime: 'now' })).toHaveProperty('status', {
      readyReplicas: 1,
      conditions: [failure],
    })
    expect(deployment(progressing)).toHaveProperty('status', { readyReplicas: 1 })
    const late = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'timed out' }
    expect(deployment(late)).toHaveProperty('status.conditions', [late])
  })

  it('keeps the traffic distribution of a Service', () => {
    const spec = { trafficDistribution: 'PreferSameZone', internalTrafficPolicy: 'Local', sessionAffinity: 'None' }
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', namespace: 'ns' }, spec }
    expect(trim(service)).toMatchObject({
      spec: { trafficDistribution: 'PreferSameZone', internalTrafficPolicy: 'Local' },
    })
    expect(JSON.stringify(trim(service))).not.toContain('sessionAffinity')
  })
})
