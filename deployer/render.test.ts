import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { DELIVERY_MOUNT_PATH, deliveryRules, POD_ENVIRONMENT } from '#api/delivery/pod-contract.ts'
import type { DeployResult } from './input.ts'
import type { KubeObject } from './kube-object.ts'
import { OWNED_KINDS } from './owned-kinds.ts'
import { testDeployment } from './input.testing.ts'

function deployed(parameters = '{}', options: Record<string, string> = {}): DeployResult {
  const text = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web, namespace: apps, uid: u1 }
spec:
  gatewayClassName: gw
  infrastructure: { parametersRef: { group: gw.dev, kind: GwParameters, name: p } }
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
apiVersion: gw.dev/v1alpha1
kind: GwParameters
metadata: { name: p, namespace: apps }
spec: ${parameters}
`
  return testDeployment(
    parseAllDocuments(text).map((document): unknown => document.toJS()),
    new Map(Object.entries(options)),
  )
}

function only({ objects }: DeployResult, kind: string): KubeObject {
  const [first, ...others] = objects.filter((object) => object.kind === kind)
  if (first === undefined || others.length > 0) throw new Error(`no single ${kind}`)
  return first
}

interface Pod {
  readonly metadata: { readonly annotations: Record<string, string> }
  readonly spec: {
    readonly volumes: { readonly name: string }[]
    readonly containers: {
      readonly env: { readonly name: string }[]
      readonly volumeMounts: { readonly name: string; readonly mountPath: string }[]
    }[]
  }
}

function podOf(result: DeployResult): Pod {
  const { spec } = only(result, 'Deployment')
  // Of our own base manifest.
  return (spec as { template: Pod }).template
}

describe('renderDeployment', () => {
  it('makes only kinds that the controller knows to own, each once', () => {
    const all = deployed('{ podDisruptionBudget: {}, horizontalPodAutoscaler: { spec: { maxReplicas: 2 } } }')
    const names = all.objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
    expect(new Set(names).size).toBe(names.length)
    const owned = OWNED_KINDS.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)
    expect(names.filter((name) => !owned.includes(name))).toEqual([])
    expect(owned.filter((name) => !names.includes(name))).toEqual(['apps/v1 DaemonSet'])
  })

  it('gives every object the Gateway as its controller', () => {
    for (const { metadata } of deployed().objects) {
      expect(metadata.ownerReferences).toMatchObject([{ kind: 'Gateway', name: 'web', uid: 'u1', controller: true }])
      expect(metadata.namespace).toBe('apps')
    }
  })

  it('gives the same for the same', () => {
    expect(JSON.stringify(deployed('{ env: [{ name: A, value: b }] }'))).toBe(
      JSON.stringify(deployed('{ env: [{ name: A, value: b }] }')),
    )
  })

  it('shares no part with its input or between objects', () => {
    const result = deployed(
      '{ env: [{ name: A, value: b }], deployment: { spec: { template: { spec: { nodeSelector: { a: b } } } } } }',
    )
    const seen = new Set<unknown>()
    const shared: unknown[] = []
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      if (seen.has(value)) shared.push(value)
      seen.add(value)
      Object.values(value).forEach(walk)
    }
    result.objects.forEach(walk)
    expect(shared).toEqual([])
  })

  it('mounts the delivery and allows exactly it', () => {
    const result = deployed()
    const pod = podOf(result)
    expect(pod.spec.containers[0]?.volumeMounts).toContainEqual({
      name: 'delivery',
      mountPath: DELIVERY_MOUNT_PATH,
      readOnly: true,
    })
    expect(only(result, 'Role')['rules']).toEqual(deliveryRules('web'))
    const rules = deliveryRules('web')
    expect(rules.every(({ resourceNames }) => resourceNames.length > 0)).toBe(true)
  })

  it('sets the variables of the contract, in its order', () => {
    const names = podOf(deployed()).spec.containers[0]?.env.map(({ name }) => name)
    const contract = Object.values(POD_ENVIRONMENT).filter((name) => name !== POD_ENVIRONMENT.modelCatalogPaths)
    expect(names).toEqual(contract)
  })

  it.each(['SESSION_KEY', 'GW_SESSION_KEY'])('keeps no session key where the user sets %s', (name) => {
    const result = deployed(`{ env: [{ name: ${name}, value: x }] }`, { sessionKey: 'broken' })
    expect(result.problems).toEqual([])
    expect(result.objects.filter(({ kind }) => kind === 'Secret')).toEqual([])
    expect(podOf(result).metadata.annotations).not.toHaveProperty('checksum/session-key')
  })

  it('rolls out for another session key or other settings, and for nothing else', () => {
    const annotations = (result: DeployResult): string => JSON.stringify(podOf(result))
    const key = { sessionKey: 'a'.repeat(64) }
    expect(annotations(deployed('{}', key))).not.toBe(annotations(deployed()))
    expect(annotations(deployed('{ logging: { format: json } }'))).not.toBe(annotations(deployed()))
    expect(annotations(deployed('{ service: { spec: { type: ClusterIP } } }'))).toBe(annotations(deployed()))
  })

  it('deploys nothing by half', () => {
    const result = deployed('{ service: { spec: { ports: [{ name: x }] } }, logging: { format: json } }')
    expect(result.objects).toEqual([])
    expect(result.problems).toMatchObject([{ path: 'spec.service.spec.ports', severity: 'error' }])
  })

  it.each(['text', '[1]', '7'])('refuses a rawConfig whose config is %s and would be lost', (config) => {
    const problem = { path: 'spec.rawConfig.config', reason: 'InvalidParameters', severity: 'error' }
    expect(deployed(`{ rawConfig: { config: ${config} } }`)).toMatchObject({ objects: [], problems: [problem] })
  })

  it.each(['{}', 'null'])('takes a rawConfig whose config is %s', (config) => {
    expect(deployed(`{ rawConfig: { config: ${config} } }`).problems).toEqual([])
  })

  it('reports that a fixed number of pods leaves an autoscaler nothing to do', () => {
    const scaler = 'horizontalPodAutoscaler: { spec: { maxReplicas: 9 } }'
    const both = deployed(`{ deployment: { spec: { replicas: 5 } }, ${scaler} }`)
    expect(both.problems).toMatchObject([{ path: 'spec.deployment.spec.replicas', severity: 'warning' }])
    expect(only(both, 'Deployment')['spec']).toMatchObject({ replicas: 5 })
    expect(deployed(`{ deployment: { spec: { replicas: null } }, ${scaler} }`).problems).toEqual([])
    expect(deployed('{ deployment: { spec: { replicas: 5 } } }').problems).toEqual([])
  })

  it('shows no Secret and no checksum of a key it does not know', () => {
    const known = deployed()
    expect(only(known, 'Secret').metadata.name).toBe('web-session-key')
    expect(podOf(known).metadata.annotations).toHaveProperty('checksum/session-key')
  })
})
