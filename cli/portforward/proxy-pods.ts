// The proxies of a cluster that a command connects to: pods of a Gateway or of another resource. The Kubernetes API
// server forwards their ports.
import type { KubeConfig, V1Pod } from '@kubernetes/client-node'
import { ADMIN_TOKEN_VARIABLE } from '#api/admin/token-file.ts'
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import { POD_ENVIRONMENT } from '#api/delivery/pod-contract.ts'
import type { AdminTransport } from './admin-client.ts'
import { clusterOf, defaultNamespace, placeOf, type PodQuery, runningPod, runningPods, selectorOf } from './kube-api.ts'
import { whyNoProxy, whyNoProxyIn } from './missing-proxy.ts'
import { openPort, outputOf, withForwardedPort } from './pod-port.ts'
import type { ClusterFlags, ClusterTarget, ProxyTransport } from './targets.ts'

/** In the image of the proxy. */
const TOKEN_COMMAND = ['/usr/local/bin/node', '/app/gw.js', 'proxy', 'token', '--admin-addr'] as const

/** At least one, sorted by name. @throws {Error} with a message for the user */
export async function proxyTransports(target: ClusterTarget): Promise<[ProxyTransport, ...ProxyTransport[]]> {
  const config = clusterOf(target.cluster, '; --local connects to a proxy on this machine')
  const namespace = target.namespace ?? defaultNamespace(config)
  const { pods, whyNone } = await podsOf(config, target, namespace)
  const [first, ...others] = pods.map((pod) => proxyTransport(config, pod, target.adminPort))
  if (first === undefined) throw new Error(await whyNone())
  return [first, ...others]
}

export interface PodSelection extends ClusterFlags {
  readonly namespace: string
  readonly labelSelector: string
  readonly port: number
}

/** One transport for each running pod, sorted by name, to servers without a token. @throws {Error} as above */
export async function podTransports({ port, ...selection }: PodSelection): Promise<AdminTransport[]> {
  const config = clusterOf(selection)
  return (await runningPods(config, selection)).map((pod) => {
    const place = placeOf(pod)
    return { label: `${place.name}.${place.namespace}`, open: () => openPort(config, place, port) }
  })
}

interface Found {
  readonly pods: readonly V1Pod[]
  /** The message without any pod. */
  readonly whyNone: () => Promise<string>
}

async function podsOf(
  config: KubeConfig,
  { resource, isEverywhere }: ClusterTarget,
  namespace: string,
): Promise<Found> {
  if (resource === undefined) return gatewayPods(config, isEverywhere ? undefined : namespace)
  const { kind, name } = resource
  const place = { namespace, name }
  const whyNone = (): Promise<string> => Promise.resolve(`${kind} ${namespace}/${name} has no running pod`)
  if (kind === 'pod') return { pods: [await runningPod(config, place)], whyNone }
  if (kind === 'gateway') {
    const labelSelector = `${GATEWAY_NAME_LABEL}=${safeName(name)}`
    const pods = (await runningPods(config, { namespace, labelSelector })).filter(isProxy)
    return { pods, whyNone: () => whyNoProxy(config, place) }
  }
  const labelSelector = await selectorOf(config, { ...place, kind })
  return { pods: await runningPods(config, { namespace, labelSelector }), whyNone }
}

/** Of all Gateways, or of the only one in the namespace. */
async function gatewayPods(config: KubeConfig, namespace: string | undefined): Promise<Found> {
  const pods = await proxyPods(config, { namespace })
  const whyNone = (): Promise<string> => whyNoProxyIn(config, namespace)
  if (namespace === undefined) return { pods, whyNone }
  const gateways = [...new Set(pods.map(gatewayOf))]
  if (gateways.length < 2) return { pods, whyNone }
  throw new Error(`the namespace ${namespace} has several Gateways: add one of ${gateways.join(', ')}`)
}

/** Of all Gateways. @throws {Error} with a message for the user */
export async function proxyPods(config: KubeConfig, query: Omit<PodQuery, 'labelSelector'>): Promise<V1Pod[]> {
  return (await runningPods(config, { ...query, labelSelector: GATEWAY_NAME_LABEL })).filter(isProxy)
}

/** Other controllers of the Gateway API use the same label. */
function isProxy(pod: V1Pod): boolean {
  return containerOf(pod) !== undefined
}

function containerOf({ spec }: V1Pod): string | undefined {
  return spec?.containers.find(({ env = [] }) => env.some(({ name }) => name === POD_ENVIRONMENT.gateway))?.name
}

/** `gateway/web.shop` */
export function gatewayOf({ metadata }: V1Pod): string | undefined {
  const gateway = metadata?.labels?.[GATEWAY_NAME_LABEL]
  return gateway === undefined ? undefined : `gateway/${gateway}.${metadata?.namespace ?? ''}`
}

function proxyTransport(config: KubeConfig, pod: V1Pod, adminPort: number): ProxyTransport {
  const place = placeOf(pod)
  // One command in the pod for all requests to it.
  let token: Promise<string | undefined> | undefined
  return {
    label: `${place.name}.${place.namespace}`,
    gateway: gatewayOf(pod),
    token: () => (token ??= tokenOf(config, pod, adminPort)),
    open: () => openPort(config, place, adminPort),
    withPort: (port, use) => withForwardedPort(() => openPort(config, place, port), use),
  }
}

/** From the environment, else from the proxy in the pod. */
async function tokenOf(config: KubeConfig, pod: V1Pod, adminPort: number): Promise<string | undefined> {
  const given = process.env[ADMIN_TOKEN_VARIABLE]?.trim()
  if (given !== undefined && given !== '') return given
  const container = containerOf(pod)
  if (container === undefined) return undefined
  const command = [...TOKEN_COMMAND, `localhost:${adminPort}`]
  return (await outputOf(config, placeOf(pod), { container, command })).trim()
}
