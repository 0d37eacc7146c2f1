// What tenants try with the GwParameters and the infrastructure of their Gateway, against the default restrictions.
import { describe, expect, it } from 'vitest'
import type { GatewaySpec } from '#api/gateway/gateway.gen.ts'
import type { GwParametersSpec } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployResult } from '../input.ts'
import { testDeployment } from '../input.testing.ts'

const REF = { group: 'gw.dev', kind: 'GwParameters' } as const

interface Given {
  readonly ofClass?: GwParametersSpec
  readonly ofGateway?: GwParametersSpec
  readonly infrastructure?: GatewaySpec['infrastructure']
}

function deploy({ ofClass, ofGateway, infrastructure }: Given, restrictions = 'default'): DeployResult {
  const parameters = (namespace: string, spec: GwParametersSpec | undefined): unknown[] =>
    spec === undefined
      ? []
      : [{ apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata: { namespace, name: 'p' }, spec }]
  const gatewayClass = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'gw' },
    spec: {
      controllerName: 'gw.dev/controller',
      ...(ofClass && { parametersRef: { ...REF, name: 'p', namespace: 'system' } }),
    },
  }
  const gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'tenant', uid: '1' },
    spec: {
      gatewayClassName: 'gw',
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
      infrastructure: { ...infrastructure, ...(ofGateway && { parametersRef: { ...REF, name: 'p' } }) },
    },
  }
  const documents = [gatewayClass, gateway, ...parameters('system', ofClass), ...parameters('tenant', ofGateway)]
  return testDeployment(documents, new Map([['restrictions', restrictions]]))
}

type Pod = Readonly<Record<string, unknown>>

const pod = (spec: Pod): GwParametersSpec => ({ deployment: { spec: { template: { spec } } } })
const container = (fields: Pod): GwParametersSpec => pod({ containers: [{ name: 'gw', ...fields }] })
const POD = 'spec.deployment.spec.template.spec'
const GW = `${POD}.containers[gw]`
const HOST_ROOT = { name: 'root', hostPath: { path: '/' } }
const TOKEN = { name: 't', projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'vault' } }] } }

describe('parameters of a Gateway cannot set', () => {
  it.each<[string, GwParametersSpec, string]>([
    ['a volume of the host', pod({ volumes: [HOST_ROOT] }), `${POD}.volumes[root].hostPath.path`],
    ['a projected token', pod({ volumes: [TOKEN] }), `${POD}.volumes[t].projected.sources`],
    [
      'the source of a volume that is there',
      pod({ volumes: [{ name: 'tmp', emptyDir: null, hostPath: { path: '/' } }] }),
      `${POD}.volumes[tmp].hostPath.path`,
    ],
    ['all volumes', pod({ volumes: [{ $patch: 'replace' }, HOST_ROOT] }), `${POD}.volumes[root].hostPath.path`],
    [
      'a privileged container',
      container({ securityContext: { privileged: true } }),
      `${GW}.securityContext.privileged`,
    ],
    [
      'capabilities',
      container({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
      `${GW}.securityContext.capabilities.add`,
    ],
    [
      'no security context',
      container({ securityContext: { $patch: 'delete' } }),
      `${GW}.securityContext.allowPrivilegeEscalation`,
    ],
    ['the security context of the pod', pod({ securityContext: { runAsUser: 0 } }), `${POD}.securityContext.runAsUser`],
    ['the network of the host', pod({ hostNetwork: true }), `${POD}.hostNetwork`],
    ['the processes of the host', pod({ hostPID: true }), `${POD}.hostPID`],
    ['the memory of the host', pod({ hostIPC: true }), `${POD}.hostIPC`],
    ['a node', pod({ nodeName: 'control-plane' }), `${POD}.nodeName`],
    ['a service account', pod({ serviceAccountName: 'admin' }), `${POD}.serviceAccountName`],
    ['the old name of the service account', pod({ serviceAccount: 'admin' }), `${POD}.serviceAccount`],
    ['the priority', pod({ priorityClassName: 'system-node-critical' }), `${POD}.priorityClassName`],
    ['an init container', pod({ initContainers: [{ name: 'i', image: 'x' }] }), `${POD}.initContainers[i].image`],
    ['a sidecar', pod({ containers: [{ name: 'evil', image: 'x' }] }), `${POD}.containers[evil].image`],
    ['the image by overlay', container({ image: 'evil' }), `${GW}.image`],
    ['the command', container({ command: ['sh'] }), `${GW}.command`],
    [
      'a hook',
      container({ lifecycle: { preStop: { exec: { command: ['sh'] } } } }),
      `${GW}.lifecycle.preStop.exec.command`,
    ],
    [
      'a probe of another host',
      container({ livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } }),
      `${GW}.livenessProbe.httpGet.host`,
    ],
    ['a port of the host', container({ ports: [{ containerPort: 80, hostPort: 80 }] }), `${GW}.ports`],
    ['a Secret as variables', container({ envFrom: [{ secretRef: { name: 'others' } }] }), `${GW}.envFrom`],
    [
      'a Secret as a variable, by overlay',
      container({ env: [{ name: 'LOG', valueFrom: { secretKeyRef: { name: 'others', key: 'k' } } }] }),
      `${GW}.env[LOG].valueFrom.secretKeyRef.name`,
    ],
    [
      'a Secret as a variable',
      { env: [{ name: 'LOG', valueFrom: { secretKeyRef: { name: 'others', key: 'k' } } }] },
      'spec.env[LOG].valueFrom.secretKeyRef.name',
    ],
    [
      'what node runs first',
      { env: [{ name: 'NODE_OPTIONS', value: '--require /x' }] },
      'spec.env[NODE_OPTIONS].value',
    ],
    ['the admin address', { env: [{ name: 'GW_ADMIN_ADDR', value: '0.0.0.0:1' }] }, 'spec.env[GW_ADMIN_ADDR].value'],
    ['the image', { image: { repository: 'evil' } }, 'spec.image.repository'],
    ['the configuration of the proxy', { rawConfig: { mcp: {} } }, 'spec.rawConfig'],
    ['the mesh', { meshIntegration: { caAddress: 'https://evil' } }, 'spec.meshIntegration.caAddress'],
    [
      'the role of the cloud',
      { serviceAccount: { metadata: { annotations: { a: 'b' } } } },
      'spec.serviceAccount.metadata.annotations.a',
    ],
    ['addresses of others', { service: { spec: { externalIPs: ['1.1.1.1'] } } }, 'spec.service.spec.externalIPs'],
    ['an external name', { service: { spec: { externalName: 'x.test' } } }, 'spec.service.spec.externalName'],
    ['pods of others', { service: { spec: { selector: { app: 'db' } } } }, 'spec.service.spec.selector.app'],
    [
      'another target to scale',
      { horizontalPodAutoscaler: { spec: { maxReplicas: 2, scaleTargetRef: { name: 'db' } } } },
      'spec.horizontalPodAutoscaler.spec.scaleTargetRef.name',
    ],
    [
      'a budget for pods of others',
      { podDisruptionBudget: { spec: { selector: { $patch: 'delete' } } } },
      'spec.podDisruptionBudget.spec.selector.matchLabels[app.kubernetes.io/name]',
    ],
    [
      'an annotation of an injector',
      {
        deployment: {
          spec: { template: { metadata: { annotations: { 'vault.hashicorp.com/agent-inject': 'true' } } } },
        },
      },
      'spec.deployment.spec.template.metadata.annotations[vault.hashicorp.com/agent-inject]',
    ],
    [
      'a finalizer of pods',
      { deployment: { spec: { template: { metadata: { finalizers: ['example.com/never'] } } } } },
      'spec.deployment.spec.template.metadata.finalizers',
    ],
    [
      'a label of an injector',
      { deployment: { metadata: { labels: { 'sidecar.istio.io/inject': 'true' } } } },
      'spec.deployment.metadata.labels[sidecar.istio.io/inject]',
    ],
  ])('%s', (_, ofGateway, path) => {
    const { objects, problems } = deploy({ ofGateway })
    expect(objects).toEqual([])
    expect(problems.map((one) => one.path)).toContain(path)
    const problem = problems.find((one) => one.path === path)
    expect(problem).toMatchObject({
      object: { kind: 'GwParameters', namespace: 'tenant', name: 'p' },
      reason: 'InvalidParameters',
      severity: 'error',
    })
    expect(problem?.message).toMatch(/GW_(GATEWAY|CLASS)_/)
  })

  it('the same in parameters of the class, which may set anything', () => {
    const spec = { hostNetwork: true, volumes: [HOST_ROOT], serviceAccountName: 'edge' }
    const { objects, problems } = deploy({ ofClass: { ...pod(spec), image: { repository: 'own' } } })
    expect(problems).toEqual([])
    expect(JSON.stringify(objects)).toContain('"hostPath":{"path":"/"}')
  })

  it('more than twenty fields without the message growing', () => {
    const volumes = Array.from({ length: 100 }, (_, i) => ({ name: `v${i}`, hostPath: { path: '/' } }))
    const { problems } = deploy({ ofGateway: pod({ volumes }) })
    expect(problems).toHaveLength(21)
    expect(problems.at(-1)?.message).toBe('80 more fields or keys are rejected')
  })
})

describe('parameters of a Gateway can set', () => {
  it('number, place, resources, labels, and how the Service is reached', () => {
    const ofGateway: GwParametersSpec = {
      logging: { level: 'debug' },
      resources: { limits: { memory: '1Gi' } },
      env: [{ name: 'GW_WORKER_THREADS', value: '2' }],
      deployment: {
        metadata: { labels: { team: 'a' } },
        spec: {
          replicas: 3,
          strategy: { rollingUpdate: { maxUnavailable: 0 } },
          template: {
            metadata: { annotations: { 'example.com/a': 'b' } },
            spec: {
              nodeSelector: { arch: 'arm64' },
              tolerations: [{ key: 'a', operator: 'Exists' }],
              affinity: { podAntiAffinity: {} },
              topologySpreadConstraints: [
                { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
              ],
              containers: [{ name: 'gw', resources: { requests: { cpu: '1' } } }],
            },
          },
        },
      },
      service: {
        metadata: { annotations: { 'service.beta.kubernetes.io/aws-load-balancer-type': 'external' } },
        spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] },
      },
      podDisruptionBudget: { spec: { minAvailable: 1 } },
      horizontalPodAutoscaler: { spec: { minReplicas: 2, maxReplicas: 5 } },
    }
    const { objects, problems } = deploy({ ofGateway, infrastructure: { labels: { team: 'a' } } })
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(objects.length).toBeGreaterThan(7)
  })
})

it('pods keep the class by which NetworkPolicies and monitors select them', () => {
  const labels = { 'gateway.networking.k8s.io/gateway-class-name': 'other' }
  const { objects, problems } = deploy({ ofGateway: { deployment: { spec: { template: { metadata: { labels } } } } } })
  expect(objects).toEqual([])
  expect(problems).toMatchObject([{ severity: 'error', message: expect.stringContaining('belong to the Gateway API') }])
})

describe('parameters of a Gateway that set nothing', () => {
  it.each<GwParametersSpec>([
    {},
    { image: {}, resources: {}, logging: {}, env: [] },
    { resources: { limits: {} } },
    { deployment: { spec: { template: { spec: {} } } }, service: { metadata: {} } },
    { meshIntegration: {} },
  ])('are taken: %j', (ofGateway) => {
    expect(deploy({ ofGateway }).problems.filter(({ severity }) => severity === 'error')).toEqual([])
  })
})

describe('infrastructure of a Gateway', () => {
  it.each([
    'sidecar.istio.io/inject',
    'inject.istio.io/templates',
    'linkerd.io/inject',
    'vault.hashicorp.com/agent-inject',
    'container.apparmor.security.beta.kubernetes.io/gw',
    'seccomp.security.alpha.kubernetes.io/pod',
    'eks.amazonaws.com/role-arn',
    'k8s.v1.cni.cncf.io/networks',
  ])('cannot have the key %s', (key) => {
    const { objects, problems } = deploy({ infrastructure: { labels: { [key]: 'a' }, annotations: { [key]: 'a' } } })
    expect(objects).toEqual([])
    expect(problems).toMatchObject([
      { object: { kind: 'Gateway' }, path: `spec.infrastructure.labels[${key}]`, reason: 'InvalidParameters' },
      { object: { kind: 'Gateway' }, path: `spec.infrastructure.annotations[${key}]`, reason: 'InvalidParameters' },
    ])
    expect(problems[0]?.message).toContain('GW_GATEWAY_DENIED_KEY_PREFIXES')
  })
})

/** Where the administrator lets Gateways set every field, what the class sets is held. */
describe('fields of the class', () => {
  const ofAny = (given: Given): DeployResult => deploy(given, 'enforced')

  it.each<[string, GwParametersSpec, GwParametersSpec, string]>([
    ['an image', { image: { repository: 'own' } }, { image: { tag: 'x' } }, 'spec.image.tag'],
    ['an image, by overlay', { image: { repository: 'own' } }, container({ image: 'x' }), `${GW}.image`],
    ['a variable', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'A', value: '2' }] }, 'spec.env[A].value'],
    [
      'a variable by its other name',
      { env: [{ name: 'GW_LOG', value: '1' }] },
      { env: [{ name: 'LOG', value: '2' }] },
      'spec.env[LOG].value',
    ],
    [
      'a variable, by overlay',
      { env: [{ name: 'A', value: '1' }] },
      container({ env: [{ name: 'A', $patch: 'delete' }] }),
      `${GW}.env[A].value`,
    ],
    ['the start configuration', { rawConfig: { a: 1 } }, { rawConfig: { b: 1 } }, 'spec.rawConfig'],
    [
      'a security context that is the default',
      container({ securityContext: { runAsNonRoot: true } }),
      container({ securityContext: { runAsNonRoot: false } }),
      `${GW}.securityContext.runAsNonRoot`,
    ],
    [
      'a security context, as a whole',
      container({ securityContext: { runAsUser: 1 } }),
      container({ securityContext: null }),
      `${GW}.securityContext.runAsUser`,
    ],
    [
      'a service account',
      pod({ serviceAccountName: 'a' }),
      pod({ serviceAccountName: 'b' }),
      `${POD}.serviceAccountName`,
    ],
    ['no network of the host', pod({ hostNetwork: false }), pod({ hostNetwork: true }), `${POD}.hostNetwork`],
    [
      'a volume',
      pod({ volumes: [{ name: 'ca', configMap: { name: 'ca' } }] }),
      pod({ volumes: [{ name: 'ca', configMap: { name: 'mine' } }] }),
      `${POD}.volumes[ca].configMap.name`,
    ],
    [
      'an internal load balancer',
      { service: { metadata: { annotations: { 'cloud.example/internal': 'true' } } } },
      { service: { metadata: { annotations: { 'cloud.example/internal': 'false' } } } },
      'spec.service.metadata.annotations[cloud.example/internal]',
    ],
  ])('%s stays', (_, ofClass, ofGateway, path) => {
    const { objects, problems } = ofAny({ ofClass, ofGateway })
    expect(objects).toEqual([])
    expect(problems).toMatchObject([{ path, reason: 'InvalidParameters', severity: 'error' }])
    expect(problems[0]?.message).toContain('is set by GwParameters system/p of the GatewayClass')
    expect(problems[0]?.message).toContain('GW_CLASS_PARAMETERS_ENFORCED_FIELDS')
  })

  it.each<[string, GwParametersSpec, GwParametersSpec]>([
    ['a number of pods', { deployment: { spec: { replicas: 2 } } }, { deployment: { spec: { replicas: 3 } } }],
    ['resources', { resources: { limits: { cpu: '1' } } }, { resources: { limits: { cpu: '2' } } }],
    ['another variable', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'B', value: '2' }] }],
    ['the log', { logging: { level: 'info' } }, { logging: { level: 'debug' } }],
    [
      'another annotation of the Service',
      { service: { metadata: { annotations: { a: 'b' } } } },
      { service: { metadata: { annotations: { c: 'd' } } } },
    ],
  ])('%s can be changed', (_, ofClass, ofGateway) => {
    expect(ofAny({ ofClass, ofGateway }).problems).toEqual([])
  })
})
