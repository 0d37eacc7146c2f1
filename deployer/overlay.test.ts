import { describe, expect, it } from 'vitest'
import type { GwParameters, GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import type { JsonObject } from './kube-object.ts'
import { type OverlayField, type OverlayLayer, overlayLayers, withOverlays } from './overlay.ts'

const labels = {
  'gateway.networking.k8s.io/gateway-name': 'web',
  'app.kubernetes.io/managed-by': 'gw',
  app: 'web',
}

function parameters(name: string, spec: GwParametersSpec): GwParameters {
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata: { name, namespace: 'apps' }, spec }
}

function deployment(): JsonObject {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'gw', image: 'x' }] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'apps', labels },
    spec: { selector: { matchLabels: { app: 'web' } }, template },
  }
}

function account(): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'web', labels },
    automountServiceAccountToken: false,
  }
}

describe('overlayLayers', () => {
  it('takes those that are there, the class first', () => {
    const ofClass = parameters('class', { deployment: {}, service: {} })
    const ofGateway = parameters('gateway', { deployment: {} })
    const layers = (field: OverlayField, levels: (GwParameters | undefined)[]): OverlayLayer[] =>
      overlayLayers(
        field,
        levels.map((one) => ({ parameters: one, limits: undefined })),
      )
    const names = (levels: (GwParameters | undefined)[]): string[] =>
      layers('deployment', levels).map((layer) => layer.parameters.metadata.name)
    expect(names([ofClass, ofGateway])).toEqual(['class', 'gateway'])
    expect(names([undefined, ofGateway])).toEqual(['gateway'])
    expect(names([undefined, undefined])).toEqual([])
    expect(layers('daemonSet', [ofClass, ofGateway])).toEqual([])
  })
})

describe('withOverlays', () => {
  const apply = (rendered: JsonObject, ...specs: GwParametersSpec[]): ReturnType<typeof withOverlays> => {
    const levels = specs.map((spec, index) => ({ parameters: parameters(`level-${index}`, spec), limits: undefined }))
    const field = rendered['kind'] === 'ServiceAccount' ? 'serviceAccount' : 'deployment'
    return withOverlays(rendered, overlayLayers(field, levels))
  }

  it('changes nothing without layers, and nothing of what it was given', () => {
    const before = deployment()
    expect(apply(before)).toEqual({ object: deployment(), problems: [] })
    apply(before, { deployment: { metadata: { labels: { a: 'b' } }, spec: { replicas: 2 } } })
    expect(before).toEqual(deployment())
  })

  it('lets the later layer win', () => {
    const low = { deployment: { metadata: { labels: { a: 'low', b: 'low' } }, spec: { replicas: 2, paused: true } } }
    const high = { deployment: { metadata: { labels: { a: 'high' } }, spec: { replicas: 3 } } }
    const { object, problems } = apply(deployment(), low, high)
    expect(problems).toEqual([])
    expect(object.metadata.labels).toEqual({ ...labels, a: 'high', b: 'low' })
    expect(object['spec']).toMatchObject({ replicas: 3, paused: true })
  })

  it('lets a layer delete what an earlier one added', () => {
    const low = { deployment: { spec: { template: { spec: { containers: [{ name: 'side', image: 'y' }] } } } } }
    const high = { deployment: { spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } } }
    expect(apply(deployment(), low, high).object).toEqual(deployment())
  })

  it('reaches no metadata but labels and annotations, even if the schema let it through', () => {
    const metadata = { name: 'evil', namespace: 'evil', annotations: { a: 'b' }, ownerReferences: [] }
    const { object } = apply(deployment(), { deployment: { metadata } })
    expect(object.metadata).toEqual({ name: 'web', namespace: 'apps', labels, annotations: { a: 'b' } })
  })

  it('takes the spec of a ServiceAccount for its fields, and leaves kind and name alone', () => {
    const spec = { imagePullSecrets: [{ name: 's' }], kind: 'Pod', apiVersion: 'v2', metadata: { name: 'evil' } }
    const { object } = apply(account(), { serviceAccount: { spec } })
    expect(object).toEqual({ ...account(), imagePullSecrets: [{ name: 's' }] })
  })

  it('names the field of a ServiceAccount where the user wrote it', () => {
    const before = { ...account(), secrets: [{ name: 'a' }] }
    const { problems } = apply(before, { serviceAccount: { spec: { secrets: [{ kind: 'x' }] } } })
    expect(problems).toMatchObject([{ path: 'spec.serviceAccount.spec.secrets' }])
  })

  it.each<[string, GwParametersSpec, string]>([
    [
      'the label of the Gateway',
      { deployment: { metadata: { labels: { 'gateway.networking.k8s.io/gateway-name': 'x' } } } },
      'spec.deployment.metadata.labels[gateway.networking.k8s.io/gateway-name]',
    ],
    [
      'the label that the controller watches',
      { deployment: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' } } } },
      'spec.deployment.metadata.labels[app.kubernetes.io/managed-by]',
    ],
    [
      'all labels',
      // The directive stands among the labels.
      { deployment: { metadata: { labels: { $patch: 'replace', mine: 'yes' } } } },
      'spec.deployment.metadata.labels[app.kubernetes.io/managed-by]',
    ],
    [
      'the selector',
      { deployment: { spec: { selector: { matchLabels: { app: 'web', more: 'x' } } } } },
      'spec.deployment.spec.selector.matchLabels',
    ],
    ['the whole selector', { deployment: { spec: { selector: null } } }, 'spec.deployment.spec.selector.matchLabels'],
    [
      'the labels of pods',
      { deployment: { spec: { template: { metadata: { labels: { app: null } } } } } },
      'spec.deployment.spec.template.metadata.labels',
    ],
    ['everything', { deployment: { spec: { $patch: 'delete' } } }, 'spec.deployment.spec.selector.matchLabels'],
  ])('refuses a change of %s', (_, spec, path) => {
    const { problems } = apply(deployment(), spec)
    expect(problems.map((problem) => problem.path)).toContain(path)
    expect(problems.every(({ object, reason }) => object.name === 'level-0' && reason === 'InvalidParameters')).toBe(
      true,
    )
  })
})
