// Every theme that the rendering of a Gateway must cover has a golden, and the golden shows what the theme is about.
// A fact that begins with `no ` must not be there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const FOLDER = join(import.meta.dirname, 'testdata')

/** Name of the golden, and facts of its output; names of the specification (resources supplement 5.1) are beside. */
const THEMES: Readonly<Record<string, readonly string[]>> = {
  base: [
    'kind: ServiceAccount',
    'config: {}',
    'type: LoadBalancer',
    'kind: Deployment',
    'session-key',
    'no kind: DaemonSet',
  ],
  // agwp-pod-scheduling
  'pod-scheduling': ['nodeSelector:', 'affinity:', 'tolerations:', 'topologySpreadConstraints:', 'image: gw/gw:v1.2.3'],
  // aws-annotations, azure-annotations, aws-nlb-dummy-port
  'load-balancer-annotations-a': ['service.beta.kubernetes.io/aws-load-balancer'],
  'load-balancer-annotations-b': ['service.beta.kubernetes.io/azure-load-balancer'],
  'dummy-port': ['name: listener-65443', 'port: 65443'],
  // both-gwc-and-gw-have-params, controller-but-custom-gatewayclass, custom-configmap
  'both-levels': ['image: gateway.example/class/gw@sha256:1', 'replicas: 3', 'type: NodePort'],
  'other-class': ['gateway-class-name: '],
  'custom-configmap': ['config-volume'],
  // daemonset-gwc, daemonset-gw-override
  'daemonset-class': ['kind: DaemonSet', 'kind: PodDisruptionBudget', 'no replicas:', 'no kind: Deployment'],
  'daemonset-gateway-override': ['kind: Deployment', 'no kind: DaemonSet'],
  'deep-merging': ['name: CA_ADDRESS', 'limits:'],
  env: ['value: ""', '$(', '$$('],
  'gateway-addresses': ['loadBalancerIP: 203.0.113.7'],
  // gke-subsetting-static-ip
  'subsetting-static-ip': ['loadBalancerIP: 10.0.0.7'],
  'load-balancer-static-ip': ['loadBalancerIP: 198.51.100.9'],
  'hpa-overlay': ['kind: HorizontalPodAutoscaler', 'scaleTargetRef:'],
  'pdb-overlay': ['kind: PodDisruptionBudget', 'selector:'],
  'image-override': ['@sha256:'],
  // image-repo-only
  'image-repository-only': ['no imagePullPolicy'],
  'image-pull-secrets': ['imagePullSecrets:'],
  replicas: ['replicas:'],
  'init-containers': ['initContainers:'],
  'sidecar-containers': ['containers:'],
  'security-context': ['securityContext:'],
  // sa-iam-annotations
  'service-account': ['eks.amazonaws.com/role-arn'],
  infrastructure: ['team: from-gateway', 'prometheus.io/port: "9999"', 'team: from-overlay', 'no dropped'],
  istio: ['name: CLUSTER_ID', 'istiod-ca-cert', 'audience: istio-ca', 'istio.io/dataplane-mode: none'],
  'istio-additional-trust-domains': ['name: ADDITIONAL_TRUST_DOMAINS'],
  'istio-empty': ['value: https://istiod.istio-system.svc:15012'],
  'istio-noauto': ['no CA_ADDRESS', 'no istio-token'],
  'istio-noparams': ['name: TRUST_DOMAIN'],
  'istio-optout': ['no CA_ADDRESS', 'no istio-token'],
  'logging-format': ['format: '],
  'long-gateway-name-exactly-63-chars': ['no ^ {6}name: a+-[0-9a-f]{12}$'],
  'long-gateway-name-over-63-chars': ['-85d312e18bd0'],
  'model-catalog-configmap': ['/etc/gw/model-catalog/prices/prices.json,', 'no subPath'],
  // omitdefaultsecuritycontext, omitdefaultsecuritycontext-ref-gwp-on-gw
  'omit-default-security-context': ['kind: Deployment', 'no runAsNonRoot'],
  'omit-default-security-context-gateway': ['kind: Deployment', 'no runAsNonRoot'],
  'params-primary': ['kind: Deployment'],
  'raw-config-binds': ['binds:'],
  // rawconfig-typed-conflict
  'raw-config-typed-conflict': ['format: '],
  'resource-requests-overlay': ['requests:'],
  shutdown: ['terminationGracePeriodSeconds: 300', 'value: 30s'],
  'strategic-merge-patch': ['volumeMounts:'],
  'yaml-injection': ['kind: Deployment'],
}

describe('themes of rendered Gateways', () => {
  it('are all that the specification names but the one of the stream, which there is none of', () => {
    expect(Object.keys(THEMES)).toHaveLength(45)
  })

  it.each(Object.entries(THEMES))('%s', (name, facts) => {
    const output = readFileSync(join(FOLDER, `${name}.out.yaml`), 'utf8')
    for (const fact of facts) {
      const unwanted = /^no (.*)$/.exec(fact)?.[1]
      if (unwanted === undefined) expect(output).toContain(fact)
      else expect(output).not.toMatch(new RegExp(unwanted, 'm'))
    }
  })
})
