// The kinds that the operator reads or writes, and their paths in the API.

export interface Resource {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly isNamespaced: boolean
  /** Versions with the same fields, in order of preference, for clusters that do not serve `version` yet. */
  readonly older?: readonly string[]
}

const GATEWAY = 'gateway.networking.k8s.io'
const GW = 'gw.dev'

function resource(group: string, version: string, plural: string, kind: string, isNamespaced = true): Resource {
  return { group, version, plural, kind, isNamespaced }
}

/** The kinds that translation reads. */
export const TRANSLATED = {
  GatewayClass: resource(GATEWAY, 'v1', 'gatewayclasses', 'GatewayClass', false),
  Gateway: resource(GATEWAY, 'v1', 'gateways', 'Gateway'),
  ListenerSet: resource(GATEWAY, 'v1', 'listenersets', 'ListenerSet'),
  HTTPRoute: resource(GATEWAY, 'v1', 'httproutes', 'HTTPRoute'),
  GRPCRoute: resource(GATEWAY, 'v1', 'grpcroutes', 'GRPCRoute'),
  TLSRoute: resource(GATEWAY, 'v1', 'tlsroutes', 'TLSRoute'),
  TCPRoute: { ...resource(GATEWAY, 'v1', 'tcproutes', 'TCPRoute'), older: ['v1alpha2'] },
  BackendTLSPolicy: resource(GATEWAY, 'v1', 'backendtlspolicies', 'BackendTLSPolicy'),
  ReferenceGrant: { ...resource(GATEWAY, 'v1', 'referencegrants', 'ReferenceGrant'), older: ['v1beta1'] },
  Namespace: resource('', 'v1', 'namespaces', 'Namespace', false),
  Service: resource('', 'v1', 'services', 'Service'),
  Secret: resource('', 'v1', 'secrets', 'Secret'),
  ConfigMap: resource('', 'v1', 'configmaps', 'ConfigMap'),
  EndpointSlice: resource('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice'),
  Node: resource('', 'v1', 'nodes', 'Node', false),
  Pod: resource('', 'v1', 'pods', 'Pod'),
  InferencePool: resource('inference.networking.k8s.io', 'v1', 'inferencepools', 'InferencePool'),
  GwBackend: resource(GW, 'v1alpha1', 'gwbackends', 'GwBackend'),
  GwPolicy: resource(GW, 'v1alpha1', 'gwpolicies', 'GwPolicy'),
  GwModel: resource(GW, 'v1alpha1', 'gwmodels', 'GwModel'),
} as const satisfies Record<string, Resource>

/** The other kinds that the deployer reads and writes. */
export const DEPLOYED = {
  GwParameters: resource(GW, 'v1alpha1', 'gwparameters', 'GwParameters'),
  Deployment: resource('apps', 'v1', 'deployments', 'Deployment'),
  DaemonSet: resource('apps', 'v1', 'daemonsets', 'DaemonSet'),
  ServiceAccount: resource('', 'v1', 'serviceaccounts', 'ServiceAccount'),
  Role: resource('rbac.authorization.k8s.io', 'v1', 'roles', 'Role'),
  RoleBinding: resource('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding'),
  PodDisruptionBudget: resource('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  HorizontalPodAutoscaler: resource('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler'),
} as const satisfies Record<string, Resource>

export const LEASES = resource('coordination.k8s.io', 'v1', 'leases', 'Lease')
/** The account of the request; nothing is stored. */
export const SELF_SUBJECT_REVIEWS = resource(
  'authentication.k8s.io',
  'v1',
  'selfsubjectreviews',
  'SelfSubjectReview',
  false,
)
export const EVENTS = resource('', 'v1', 'events', 'Event')

const BY_KIND: ReadonlyMap<string, Resource> = new Map(
  [...Object.values(TRANSLATED), ...Object.values(DEPLOYED), LEASES, EVENTS].map((one) => [
    `${one.group}/${one.kind}`,
    one,
  ]),
)

/** undefined: not a kind of the operator. */
export function resourceOf({ apiVersion, kind }: { apiVersion: string; kind: string }): Resource | undefined {
  const slash = apiVersion.indexOf('/')
  return BY_KIND.get(`${slash === -1 ? '' : apiVersion.slice(0, slash)}/${kind}`)
}

/** By group and version: all objects of one have the same text, not equal ones. Bounded by the resources here. */
const API_VERSIONS = new Map<string, string>()

export function apiVersionOf({ group, version }: Resource): string {
  if (group === '') return version
  const text = `${group}/${version}`
  const known = API_VERSIONS.get(text)
  if (known === undefined) API_VERSIONS.set(text, text)
  return known ?? text
}

/** Of all namespaces when `namespace` is ''. */
export function collectionPath(one: Resource, namespace: string): string {
  const root = one.group === '' ? `/api/${one.version}` : `/apis/${one.group}/${one.version}`
  return one.isNamespaced && namespace !== ''
    ? `${root}/namespaces/${namespace}/${one.plural}`
    : `${root}/${one.plural}`
}

export function objectPath(one: Resource, namespace: string, name: string): string {
  return `${collectionPath(one, namespace)}/${name}`
}
