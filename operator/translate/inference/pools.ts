// The parts of an InferencePool besides its endpoints: the endpoint picker that the proxy calls for every request, how
// it is reached, and at which Gateways.
import type { BackendReference, Policy } from '#api/ir/types.gen.ts'
import { type Claims, TLS_UNIT } from '../policy/claims.ts'
import { CORE_GROUP, INFERENCE_GROUP } from '../groups.ts'
import type { Memory } from '../memory.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import type { ReachLookup } from '../reach-index.ts'
import { referencesOf, type References } from '../references.ts'
import { type ReferenceScope, resolveReference } from '../service/reference.ts'
import type { EndpointPickerRef, InferencePool } from '../inference-pool.ts'

export interface TranslatedPool {
  readonly pool: InferencePool
  readonly hostname: string
  /** `invalid` when it cannot be called. */
  readonly picker: BackendReference
  /** undefined: the picker can be called. */
  readonly fault: string | undefined
  /** The Service declares that its port uses plain text. */
  readonly isPlain: boolean
  readonly references: References
}

export interface PoolAtGateways {
  readonly pool: InferencePool
  readonly fault: string | undefined
  readonly secrets: readonly []
  /** By Gateway key. */
  readonly perGateway: ReadonlyMap<string, { readonly policies: readonly Policy[] }>
}

/** HTTP/2 without TLS (Kubernetes, standard application protocols). */
const H2C = 'kubernetes.io/h2c'
const FIELD = 'endpointPickerRef'

export function poolTranslator(memory: Memory, scope: ReferenceScope): () => readonly TranslatedPool[] {
  const { pools } = scope
  if (pools === undefined) return () => []
  const translated = memory.list((pool: InferencePool) =>
    translatePool(pool, pools.hostname(namespaceOf(pool), pool.metadata.name), scope),
  )
  return () => translated(scope.snapshot.InferencePool.all)
}

function translatePool(pool: InferencePool, hostname: string, scope: ReferenceScope): TranslatedPool {
  const { picker, fault } = resolvePicker(pool, scope)
  const isPlain = picker.service !== undefined && isPlainPort(pool, scope)
  return { pool, hostname, picker, fault, isPlain, references: referencesOf([picker]) }
}

function resolvePicker(pool: InferencePool, scope: ReferenceScope): Pick<TranslatedPool, 'picker' | 'fault'> {
  const { name, port, ...rest } = pool.spec.endpointPickerRef
  const shape = shapeFault(rest, port?.number)
  if (shape !== undefined || port === undefined) {
    const message = `error: ${FIELD}.${shape ?? 'port must be set'}`
    return { picker: { invalid: { reason: 'InvalidKind', message } }, fault: message }
  }
  const from = { group: INFERENCE_GROUP, kind: 'InferencePool', namespace: namespaceOf(pool) }
  const { ref, invalid } = resolveReference({ name, port: port.number }, from, scope)
  return { picker: ref, fault: invalid === undefined ? undefined : `error: ${FIELD}: ${invalid.message}` }
}

function shapeFault(
  { group = CORE_GROUP, kind = 'Service' }: Pick<EndpointPickerRef, 'group' | 'kind'>,
  port: number | undefined,
): string | undefined {
  if (group !== CORE_GROUP) return `group must be empty, not ${JSON.stringify(group)}`
  if (kind !== 'Service') return `kind must be Service, not ${JSON.stringify(kind)}`
  return port === undefined ? 'port must be set' : undefined
}

function isPlainPort(pool: InferencePool, { services }: ReferenceScope): boolean {
  const { name, port } = pool.spec.endpointPickerRef
  const ports = services.get(namespaceOf(pool), name)?.spec?.ports ?? []
  return ports.some((one) => one.port === port?.number && one.appProtocol === H2C)
}

/**
 * `claims`: those of all other policies. Pickers have self-signed certificates: they are not verified unless a user
 * configures the TLS of the picker.
 */
export function poolAttacher(
  memory: Memory,
  { reached, claims }: { readonly reached: ReachLookup; readonly claims: Claims },
): (pools: readonly TranslatedPool[]) => readonly PoolAtGateways[] {
  return memory.list((one: TranslatedPool): PoolAtGateways => {
    const policies = [routingPolicy(one), ...tlsPolicy(one, claims)]
    const { pool, fault, hostname } = one
    return {
      pool,
      fault,
      secrets: [],
      perGateway: new Map(reached.service(hostname).map((key) => [key, { policies }])),
    }
  })
}

function routingPolicy({ pool, hostname, picker }: TranslatedPool): Policy {
  const failureMode = pool.spec.endpointPickerRef.failureMode === 'FailOpen' ? 'FailOpen' : 'FailClosed'
  return {
    key: `${keyOf(pool)}:inference:${keyOf(pool)}`,
    name: nameOf(pool),
    target: { service: { hostname, namespace: namespaceOf(pool) } },
    policy: { backend: { inferenceRouting: { picker, failureMode } } },
  }
}

function tlsPolicy({ pool, picker: { service }, isPlain }: TranslatedPool, claims: Claims): Policy[] {
  if (service === undefined || isPlain) return []
  const { name } = pool.spec.endpointPickerRef
  const target = `Service:${nameKey(service.namespace, name)}`
  const isSettled = [target, `${target}/${service.port}`].some((key) => claims.isClaimed(key, TLS_UNIT))
  if (isSettled) return []
  return [
    {
      key: `${keyOf(pool)}:inferencetls:${nameKey(service.namespace, name)}/${service.port}`,
      name: nameOf(pool),
      target: { service },
      policy: { backend: { tls: { insecureSkipVerify: 'All' } } },
    },
  ]
}

function nameOf(pool: InferencePool): Policy['name'] {
  return { kind: 'InferencePool', namespace: namespaceOf(pool), name: pool.metadata.name }
}
