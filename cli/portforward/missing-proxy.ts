// Why a command found no proxy: what is missing (namespace, Gateway, pods), which Gateways exist, and what to do next.
import { CustomObjectsApi, type KubeConfig } from '@kubernetes/client-node'
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import { recordOf } from '#api/json.ts'
import { nearestName } from '#api/nearest.ts'
import { BOUNDED, isOnServer, ITEMS_MAX, namespaceOnServer } from './kube-api.ts'

const GATEWAYS = { group: 'gateway.networking.k8s.io', version: 'v1', plural: 'gateways' } as const
/** The nearest ones; `kubectl get gateways -A` lists all. */
const SHOWN_MAX = 5

export interface Place {
  readonly namespace: string
  readonly name: string
}

/** The message for a Gateway without a running proxy. Never throws: rights may be missing, too. */
export async function whyNoProxy(config: KubeConfig, { namespace, name }: Place): Promise<string> {
  if ((await namespaceOnServer(config, namespace)) === false) {
    return `the namespace ${namespace} does not exist; ${await otherGateways(config, { namespace, name })}`
  }
  const read = config
    .makeApiClient(CustomObjectsApi)
    .getNamespacedCustomObject({ ...GATEWAYS, namespace, name }, BOUNDED)
  if ((await isOnServer(read)) === false) {
    return `there is no Gateway ${namespace}/${name}; ${await otherGateways(config, { namespace, name })}`
  }
  const label = `${GATEWAY_NAME_LABEL}=${safeName(name)}`
  return `the Gateway ${namespace}/${name} has no running proxy; see: kubectl get pods -n ${namespace} -l ${label}`
}

/** The message for a namespace, or for the whole cluster, without a running proxy. */
export async function whyNoProxyIn(config: KubeConfig, namespace: string | undefined): Promise<string> {
  if (namespace === undefined) return `the cluster has no running proxy; ${NEXT}`
  const isThere = (await namespaceOnServer(config, namespace)) !== false
  const what = isThere ? 'has no Gateway with a running proxy' : 'does not exist'
  return `the namespace ${namespace} ${what}; ${await otherGateways(config, { namespace, name: '' })}`
}

const NEXT = 'see: kubectl get gateways -A'

async function otherGateways(config: KubeConfig, wanted: Place): Promise<string> {
  const places = await gatewaysOf(config)
  if (places === undefined) return NEXT
  if (places.length === 0) return 'the cluster has no Gateway'
  const { namespace, name } = wanted
  const nearest = nearestName(name, [...new Set(places.map((place) => place.name))])
  const rank = (place: Place): number => (place.name === nearest ? 0 : 2) + (place.namespace === namespace ? 0 : 1)
  const sorted = places.toSorted((a, b) => rank(a) - rank(b))
  const shown = sorted.slice(0, SHOWN_MAX).map((place) => `gateway/${place.name}.${place.namespace}`)
  const more = places.length > SHOWN_MAX ? `, and ${places.length - SHOWN_MAX} more (kubectl get gateways -A)` : ''
  return `the cluster has ${shown.join(', ')}${more}`
}

/** undefined: they cannot be listed. */
async function gatewaysOf(config: KubeConfig): Promise<readonly Place[] | undefined> {
  try {
    const api = config.makeApiClient(CustomObjectsApi)
    const list: unknown = await api.listClusterCustomObject({ ...GATEWAYS, limit: ITEMS_MAX }, BOUNDED)
    return placesOf(list)
  } catch {
    // Without the right, or without the CRDs of the Gateway API: the message then only says what is missing.
    return undefined
  }
}

function placesOf(list: unknown): readonly Place[] {
  const { items } = recordOf(list)
  if (!Array.isArray(items)) return []
  return items.flatMap((item: unknown): Place[] => {
    const { name, namespace } = recordOf(recordOf(item)['metadata'])
    return typeof name === 'string' && typeof namespace === 'string' ? [{ name, namespace }] : []
  })
}
