// The charts match the kustomizations; values change the documented settings.
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

interface Manifest {
  readonly kind: string
  readonly metadata: Record<string, unknown> & { readonly name: string }
  readonly spec?: Record<string, unknown>
  readonly rules?: readonly unknown[]
}

/** Labels with the manager of an object. */
const MANAGER_LABELS = new Set([
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
])

execFileSync('hack/charts.sh')
const helm = execFileSync('hack/helm.sh', { encoding: 'utf8' }).trim()

function chart(name: string, ...values: readonly string[]): Manifest[] {
  const sets = values.flatMap((value) => ['--set-json', value])
  const args = ['template', 'gw', `config/helm/${name}`, '-n', 'gw-system', '--kube-version', '1.34.0', ...sets]
  return manifests(execFileSync(helm, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: 'pipe' }))
}

function kustomization(folder: string): Manifest[] {
  return manifests(
    execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: 'pipe' }),
  )
}

function manifests(text: string): Manifest[] {
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null) // Kubernetes objects
  return documents.filter((document) => document !== null)
}

/** Objects by kind and name, without allowed differences: the manager's labels, empty maps, order of maps. */
function comparable(list: readonly Manifest[], without: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    list
      .filter(({ kind }) => !without.includes(kind))
      .map(({ metadata, ...rest }) => {
        const { labels, annotations, ...others } = metadata
        const kept = Object.entries((labels ?? {}) as Record<string, string>).filter(
          ([key]) => !MANAGER_LABELS.has(key) && key !== 'helm.sh/chart',
        )
        const notes = Object.entries((annotations ?? {}) as Record<string, string>).filter(
          ([key]) => key !== 'helm.sh/resource-policy',
        )
        const head = { ...others, labels: Object.fromEntries(kept), annotations: Object.fromEntries(notes) }
        return [`${rest.kind} ${metadata['namespace'] as string}/${metadata.name}`, { ...rest, metadata: head }]
      }),
  )
}

const deployment = (list: readonly Manifest[]): string =>
  JSON.stringify(list.find(({ kind }) => kind === 'Deployment')?.spec)

describe('charts', () => {
  it('gw is config/default without CRDs and namespace', () => {
    const expected = comparable(kustomization('config/default'), ['CustomResourceDefinition', 'Namespace'])
    expect(Object.keys(expected)).toContain('Deployment gw-system/gw-controller')
    expect(comparable(chart('gw'))).toEqual(expected)
  })

  it.each([
    ['inference', 'inferenceExtension.enabled=true'],
    ['network-policy', 'networkPolicy.enabled=true'],
    ['namespaced', 'watchNamespaces=["default"]'],
    ['namespaced-inference', 'watchNamespaces=["default"]', 'inferenceExtension.enabled=true'],
  ])('%s is the overlay of that name', (overlay, ...values) => {
    const expected = comparable(kustomization(`config/overlays/${overlay}`), ['CustomResourceDefinition', 'Namespace'])
    expect(comparable(chart('gw', ...values))).toEqual(expected)
  })

  it('gw-crds are config/crd, and stay when the release is deleted', () => {
    const crds = chart('gw-crds')
    expect(comparable(crds)).toEqual(comparable(kustomization('config/crd')))
    for (const { metadata } of crds) {
      expect(metadata['annotations']).toMatchObject({ 'helm.sh/resource-policy': 'keep' })
    }
    expect(JSON.stringify(chart('gw-crds', 'keep=false'))).not.toContain('resource-policy')
  })

  it('values reach the controller', () => {
    const list = chart(
      'gw',
      'proxy.image={"registry":"registry.example","tag":"v9"}',
      'gatewayClassName="edge"',
      'gwModels.enabled=true',
      'discoveryNamespaceSelectors=[{"matchLabels":{"gw":"yes"}}]',
      'controller.extraEnv={"A":1,"B":{"valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}}',
      'controller.image={"repository":"other","tag":"v8"}',
    )
    const text = deployment(list)
    for (const part of [
      '{"name":"GW_PROXY_IMAGE_REGISTRY","value":"registry.example"}',
      '{"name":"GW_PROXY_IMAGE_TAG","value":"v9"}',
      '{"name":"A","value":"1"}',
      '{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}',
      '"image":"gw.dev/other:v8"',
      '{"name":"GW_DISCOVERY_NAMESPACE_SELECTORS","value":"[{\\"matchLabels\\":{\\"gw\\":\\"yes\\"}}]"}',
    ]) {
      expect(text).toContain(part)
    }
    expect(list.find(({ kind }) => kind === 'GatewayClass')?.metadata.name).toBe('edge')
  })

  it('an autoscaler owns the replicas, and monitoring is added on request', () => {
    const scaled = chart('gw', 'controller.horizontalPodAutoscaler={"minReplicas":2,"maxReplicas":4}')
    expect(deployment(scaled)).not.toContain('"replicas"')
    const kinds = chart('gw', 'monitoring.enabled=true').map(({ kind }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['ServiceMonitor', 'PodMonitor']))
    expect(kinds).toContain('ConfigMap')
    const limited = chart('gw', 'controller.verticalPodAutoscaler={"updatePolicy":{"updateMode":"Auto"}}')
    expect(limited.find(({ kind }) => kind === 'VerticalPodAutoscaler')?.spec).toMatchObject({
      targetRef: { kind: 'Deployment', name: 'gw-controller' },
    })
  })
})
