// Names and labels of what the operator delivers to the proxies of one Gateway. Operator, deployer and proxy all take
// them from here, so that the Role of a pod, its volumes and the writer never disagree.
import { createHash } from 'node:crypto'
import { GROUP } from '../group.ts'
import { ACKNOWLEDGEMENT_SHARDS_MAX } from './acknowledging.ts'

/** Longest name that is used as it is; also the limit of a label value. */
const NAME_CHARS_MAX = 63
const KEPT_CHARS = 50
const HASH_CHARS = 12

/** For object names and label values: short names as they are, long ones cut and made unique by a hash. */
export function safeName(name: string): string {
  if (name.length <= NAME_CHARS_MAX) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS)
  return `${name.slice(0, KEPT_CHARS).replace(/-+$/, '')}-${hash}`
}

/** Objects of one part: the first one, and those for what does not fit into it. */
export const SHARDS_MAX = { config: 8, endpoints: 8, secrets: 8 } as const

export interface DeliveryNames {
  /** ConfigMap with the index and, while it fits, everything but endpoints and secrets. Others: its further shards. */
  readonly config: readonly string[]
  /** ConfigMaps with the endpoints: they change with every pod and leave the routes alone. */
  readonly endpoints: readonly string[]
  /** Secrets with everything sensitive. */
  readonly secrets: readonly string[]
  /** ConfigMaps in which proxies report what they have loaded (acknowledgement.ts); few proxies use only the first. */
  readonly acknowledgements: readonly string[]
}

export function deliveryNames(gateway: string): DeliveryNames {
  const safe = safeName(gateway)
  return {
    config: shardNames(`${safe}-config`, SHARDS_MAX.config),
    endpoints: shardNames(`${safe}-endpoints`, SHARDS_MAX.endpoints),
    secrets: shardNames(`${safe}-secrets`, SHARDS_MAX.secrets),
    acknowledgements: shardNames(`${safe}-acknowledgements`, ACKNOWLEDGEMENT_SHARDS_MAX),
  }
}

function shardNames(first: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? first : `${first}-${index}`))
}

/** On every object of a delivery; the value says which part it is. Watches for user objects leave these out. */
export const DELIVERY_LABEL = `${GROUP}/delivery`

export type DeliveryPart = 'config' | 'endpoints' | 'secrets' | 'acknowledgements'

export const GATEWAY_NAME_LABEL = 'gateway.networking.k8s.io/gateway-name'

export function deliveryLabels(gateway: string, part: DeliveryPart): Record<string, string> {
  return {
    'app.kubernetes.io/managed-by': 'gw',
    [GATEWAY_NAME_LABEL]: safeName(gateway),
    [DELIVERY_LABEL]: part,
  }
}
