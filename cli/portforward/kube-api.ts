// Calls of the Kubernetes API server: each has a deadline, and fails with the message of the server in one line.
import {
  AppsV1Api,
  CoreV1Api,
  type KubeConfig,
  type ConfigurationOptions,
  Observable,
  type V1LabelSelector,
  type V1Pod,
} from '@kubernetes/client-node'
import { loadKubeConfig, type KubeConfigChoice } from '#api/kube/kube-config.ts'
import { messageOf } from '#proxy/exchange/diagnosis.ts'
import type { ResourceKind } from './resource.ts'

const CALL_MS_MAX = 10_000
/** More pods and namespaces than a person can read; the API server sends no more. */
export const ITEMS_MAX = 1000

function bounded(deadlineMs: number): ConfigurationOptions {
  return {
    middleware: [
      {
        pre: (context) => {
          context.setSignal(AbortSignal.timeout(deadlineMs))
          return new Observable(Promise.resolve(context))
        },
        post: (context) => new Observable(Promise.resolve(context)),
      },
    ],
    middlewareMergeStrategy: 'append',
  }
}

export const BOUNDED = bounded(CALL_MS_MAX)

/** @throws {Error} with a message for the user, and the alternative after it */
export function clusterOf(choice: KubeConfigChoice, alternative = ''): KubeConfig {
  const outcome = loadKubeConfig(choice)
  if ('problem' in outcome) throw new Error(outcome.problem + alternative)
  return outcome.config
}

/** The namespace of the context. */
export function defaultNamespace(config: KubeConfig): string {
  return config.getContextObject(config.getCurrentContext())?.namespace ?? 'default'
}

export interface PodQuery {
  /** undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly labelSelector: string
  /** Default 10 seconds. */
  readonly deadlineMs?: number
}

/** Running pods that do not end, sorted by namespace and name. @throws {Error} as `explained` */
export async function runningPods(
  config: KubeConfig,
  { namespace, labelSelector, deadlineMs }: PodQuery,
): Promise<V1Pod[]> {
  const core = config.makeApiClient(CoreV1Api)
  const options = deadlineMs === undefined ? BOUNDED : bounded(deadlineMs)
  const query = { labelSelector, limit: ITEMS_MAX }
  const list =
    namespace === undefined
      ? core.listPodForAllNamespaces(query, options)
      : core.listNamespacedPod({ ...query, namespace }, options)
  const { items } = await explained(`list the pods of ${namespace ?? 'all namespaces'}`, list)
  return items.filter(isRunning).sort((a, b) => comparePlaces(placeOf(a), placeOf(b)))
}

/** @throws {Error} as `explained` */
export async function namespaceNames(config: KubeConfig, deadlineMs: number): Promise<string[]> {
  const list = config.makeApiClient(CoreV1Api).listNamespace({ limit: ITEMS_MAX }, bounded(deadlineMs))
  return (await explained('list the namespaces', list)).items.flatMap(({ metadata }) => metadata?.name ?? [])
}

/** undefined: unknown, because the server does not respond or the right is missing. */
export async function isOnServer(call: Promise<unknown>): Promise<boolean | undefined> {
  try {
    await call
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 404 ? false : undefined
  }
}

export function namespaceOnServer(config: KubeConfig, name: string): Promise<boolean | undefined> {
  return isOnServer(config.makeApiClient(CoreV1Api).readNamespace({ name }, BOUNDED))
}

/** @throws {Error} as `explained`, or because the pod does not run */
export async function runningPod(config: KubeConfig, place: { name: string; namespace: string }): Promise<V1Pod> {
  const call = config.makeApiClient(CoreV1Api).readNamespacedPod(place, BOUNDED)
  const pod = await explained(`read the pod ${place.namespace}/${place.name}`, call)
  if (isRunning(pod)) return pod
  throw new Error(
    `the pod ${place.namespace}/${place.name} does not run: its phase is ${pod.status?.phase ?? 'unknown'}`,
  )
}

type SelectingKind = Exclude<ResourceKind, 'gateway' | 'pod'>

/** The label selector of the pods of a Service or workload. @throws {Error} as `explained` */
export async function selectorOf(
  config: KubeConfig,
  { kind, ...place }: { readonly kind: SelectingKind; readonly name: string; readonly namespace: string },
): Promise<string> {
  const apps = config.makeApiClient(AppsV1Api)
  const readers: { [K in SelectingKind]: () => Promise<V1LabelSelector | undefined> } = {
    service: async () => {
      const { spec } = await config.makeApiClient(CoreV1Api).readNamespacedService(place, BOUNDED)
      return spec?.selector === undefined ? undefined : { matchLabels: spec.selector }
    },
    deployment: async () => (await apps.readNamespacedDeployment(place, BOUNDED)).spec?.selector,
    replicaset: async () => (await apps.readNamespacedReplicaSet(place, BOUNDED)).spec?.selector,
    statefulset: async () => (await apps.readNamespacedStatefulSet(place, BOUNDED)).spec?.selector,
    daemonset: async () => (await apps.readNamespacedDaemonSet(place, BOUNDED)).spec?.selector,
  }
  const name = `${kind} ${place.namespace}/${place.name}`
  const labels = Object.entries((await explained(`read the ${name}`, readers[kind]()))?.matchLabels ?? {})
  if (labels.length === 0) throw new Error(`the ${name} selects no pods by labels`)
  return labels.map(([key, value]) => `${key}=${value}`).join(',')
}

export function placeOf({ metadata }: V1Pod): { readonly name: string; readonly namespace: string } {
  return { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' }
}

function isRunning({ status, metadata }: V1Pod): boolean {
  return status?.phase === 'Running' && metadata?.deletionTimestamp === undefined
}

function comparePlaces(a: ReturnType<typeof placeOf>, b: ReturnType<typeof placeOf>): number {
  return a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name)
}

/** @throws {Error} with the action, and the message of the API server or of the connection */
async function explained<T>(action: string, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw new Error(`cannot ${action}: ${reasonOf(error)}`, { cause: error })
  }
}

/** The message of the library contains all headers; that of the server is in the body. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `the API server did not respond within ${CALL_MS_MAX} ms`
  if ('code' in error && 'body' in error && typeof error.code === 'number') {
    return statusMessage(error.body) ?? `the API server returned ${error.code}`
  }
  // The reason of a failed call is in its cause.
  return error.cause instanceof Error ? `${messageOf(error.cause)}; ${UNREACHED}` : error.message
}

const UNREACHED = 'check that the API server runs there, or choose another cluster with --context or KUBECONFIG'

function statusMessage(body: unknown): string | undefined {
  let status = body
  try {
    if (typeof body === 'string') status = JSON.parse(body)
  } catch {
    // Not a Status: a proxy between answered.
    return undefined
  }
  if (typeof status !== 'object' || status === null || !('message' in status)) return undefined
  return typeof status.message === 'string' ? status.message : undefined
}
