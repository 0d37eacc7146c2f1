// The inputs and permissions of a proxy pod: the deployer renders them, the cluster mode of the proxy uses them.
// Constants and pure functions only.
import { deliveryNames } from './names.ts'

/**
 * How a proxy gets its configuration in a cluster:
 *
 * 1. It starts from the files of one projected volume at DELIVERY_MOUNT_PATH: every object of the delivery is a source,
 *    without `items` and with `optional: true` (deliveryVolume). That is the last known good configuration, there even
 *    while the API server is not.
 * 2. It reads and watches the same objects through the API server with the service account of the pod, so that a change
 *    arrives at once. That takes a token (`automountServiceAccountToken: true` in the pod; the ServiceAccount may say
 *    false), and a Role with exactly deliveryRules in the namespace of the Gateway, bound to its ServiceAccount.
 * 3. It says what it has loaded in the ConfigMap of acknowledgements, under its pod name. The operator creates the
 *    ConfigMap; the proxy may patch it and nothing else.
 *
 * None of these objects belongs into a checksum annotation of the pod template: their change must not cause a rollout.
 */
export const DELIVERY_MOUNT_PATH = '/etc/gw/delivery'

export const DELIVERY_VOLUME = 'delivery'

/** ConfigMap safeName(gateway) with `config.yaml`: settings and rawConfig. Its checksum belongs to the pod template. */
export const BOOTSTRAP_MOUNT_PATH = '/config'

export const BOOTSTRAP_KEY = 'config.yaml'

/** Arguments of the container; the image has `gw` as its entry point. */
export const CONTAINER_ARGS = ['proxy', 'serve', '-f', `${BOOTSTRAP_MOUNT_PATH}/${BOOTSTRAP_KEY}`] as const

/** Read-only root file system: the one place for temporary files. */
export const TMP_MOUNT_PATH = '/tmp'

/** Unprivileged user and group of the container. */
export const RUN_AS_USER = 10_101

export const METRICS_PORT = 15_020
export const READINESS_PORT = 15_021
export const READINESS_PATH = '/healthz/ready'

/** Names of environment variables, in the order of the container. The comment of each describes its value. */
export const POD_ENVIRONMENT = {
  /** Seconds: shutdown.max, or 60. */
  gracePeriod: 'TERMINATION_GRACE_PERIOD_SECONDS',
  /** shutdown.min, or 10, with the unit: `10s`. */
  minTermination: 'CONNECTION_MIN_TERMINATION_DEADLINE',
  /** Downward API: spec.nodeName. */
  nodeName: 'NODE_NAME',
  /** Downward API: metadata.namespace. */
  podNamespace: 'POD_NAMESPACE',
  /** Downward API: metadata.name. */
  podName: 'POD_NAME',
  /** logging.level, or info. */
  logLevel: 'GW_LOG',
  /** secretKeyRef `{safeName(gateway)}-session-key`, key `key`: 64 hexadecimal digits. */
  sessionKey: 'SESSION_KEY',
  /** Downward API: metadata.namespace. The namespace of the Gateway. */
  namespace: 'NAMESPACE',
  /** Name of the Gateway. With NAMESPACE it makes the proxy run in cluster mode. */
  gateway: 'GATEWAY',
  /** resourceFieldRef limits.cpu, divisor 1: number of traffic threads. */
  cpuLimit: 'CPU_LIMIT',
  /** Downward API: status.podIP. */
  instanceIp: 'INSTANCE_IP',
  /** Downward API: spec.serviceAccountName. */
  serviceAccount: 'SERVICE_ACCOUNT',
  /** Comma list of mounted catalog files. */
  modelCatalogPaths: 'MODEL_CATALOG_PATHS',
} as const

export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly verbs: readonly string[]
}

/** The rules of the pod's Role: its own delivery, by name, and nothing else in the namespace. */
export function deliveryRules(gateway: string): PolicyRule[] {
  const { config, endpoints, secrets, acknowledgements } = deliveryNames(gateway)
  const apiGroups = ['']
  // A watch of one object is a list with metadata.name as field selector; resourceNames restricts it to these.
  const verbs = ['get', 'list', 'watch']
  return [
    { apiGroups, resources: ['configmaps'], resourceNames: [...config, ...endpoints], verbs },
    { apiGroups, resources: ['secrets'], resourceNames: secrets, verbs },
    { apiGroups, resources: ['configmaps'], resourceNames: acknowledgements, verbs: ['get', 'patch'] },
  ]
}

export interface ProjectedVolume {
  readonly name: typeof DELIVERY_VOLUME
  readonly projected: { readonly sources: readonly ProjectedSource[] }
}

export type ProjectedSource =
  | { readonly configMap: { readonly name: string; readonly optional: true } }
  | { readonly secret: { readonly name: string; readonly optional: true } }

/** File names are unique over all objects of a delivery, so one folder takes them, which the kubelet swaps at once. */
export function deliveryVolume(gateway: string): ProjectedVolume {
  const { config, endpoints, secrets } = deliveryNames(gateway)
  const sources: ProjectedSource[] = [
    ...[...config, ...endpoints].map((name) => ({ configMap: { name, optional: true as const } })),
    ...secrets.map((name) => ({ secret: { name, optional: true as const } })),
  ]
  return { name: DELIVERY_VOLUME, projected: { sources } }
}
