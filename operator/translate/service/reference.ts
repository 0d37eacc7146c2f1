// Resolves backend references of every kind of object. A reference that cannot be resolved becomes an `invalid` entry,
// never a missing one.
import type { BackendReference, InvalidReference } from '#api/ir/types.gen.ts'
import { refusalMessage, type RefusalOf } from '../grants.ts'
import { CORE_GROUP, GW_GROUP, INFERENCE_GROUP } from '../groups.ts'
import { type PoolLookup, POOLS_ARE_OFF } from './pool-lookup.ts'
import { firstPort } from './rendered-pools.ts'
import type { Service } from '../kube.ts'
import { nameKey } from '../object-ref.ts'
import type { Services } from './services.ts'
import type { Snapshot } from '../snapshot.ts'

export interface ReferenceScope {
  readonly snapshot: Snapshot
  readonly services: Services
  /** undefined: InferencePools are not read. */
  readonly pools: PoolLookup | undefined
  readonly refusalOf: RefusalOf
}

export interface ReferenceSource {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

/** The fields that all kinds of backend references share. */
export interface BackendRefFields {
  readonly group?: string
  readonly kind?: string
  readonly name: string
  readonly namespace?: string
  readonly port?: number
}

export interface ResolvedReference {
  readonly ref: BackendReference
  readonly invalid?: InvalidReference
}

export function resolveReference(
  ref: BackendRefFields,
  from: ReferenceSource,
  scope: ReferenceScope,
): ResolvedReference {
  const { group = CORE_GROUP, kind = 'Service', name, namespace = from.namespace } = ref
  const resolve = RESOLVERS.get(`${group}/${kind}`)
  if (resolve === resolvePool && scope.pools === undefined) return invalid('InvalidKind', POOLS_ARE_OFF)
  if (resolve === undefined) {
    return invalid(
      'InvalidKind',
      `referencing unsupported backendRef: group ${JSON.stringify(group)} kind ${kind}; ${BACKEND_KINDS}`,
    )
  }
  const reference = { from, to: { group, kind, namespace, name } }
  const refusal = scope.refusalOf(reference)
  if (refusal !== undefined) return invalid('RefNotPermitted', refusalMessage(reference, refusal))
  return resolve({ name, namespace, port: ref.port }, scope)
}

const BACKEND_KINDS =
  'use a Service, a GwBackend of group gw.dev, or an InferencePool of group inference.networking.k8s.io'

type Resolver = (target: ReferenceTarget, scope: ReferenceScope) => ResolvedReference

/** By group and kind. */
const RESOLVERS: ReadonlyMap<string, Resolver> = new Map([
  [`${CORE_GROUP}/Service`, resolveService],
  [`${GW_GROUP}/GwBackend`, resolveBackend],
  [`${INFERENCE_GROUP}/InferencePool`, resolvePool],
])

interface ReferenceTarget {
  readonly name: string
  readonly namespace: string
  readonly port: number | undefined
}

function resolveBackend({ namespace, name }: ReferenceTarget, { snapshot }: ReferenceScope): ResolvedReference {
  const key = nameKey(namespace, name)
  if (snapshot.GwBackend.get(namespace, name) === undefined) {
    return invalid('BackendNotFound', `backend(${key}) not found: there is no GwBackend ${key}`)
  }
  return { ref: { backend: key } }
}

function resolvePool({ namespace, name }: ReferenceTarget, { pools }: ReferenceScope): ResolvedReference {
  const pool = pools?.get(namespace, name)
  if (pool === undefined || pools === undefined) {
    return invalid('BackendNotFound', `InferencePool ${nameKey(namespace, name)} not found`)
  }
  return { ref: { service: { hostname: pools.hostname(namespace, name), namespace, port: firstPort(pool) } } }
}

function resolveService({ name, namespace, port }: ReferenceTarget, { services }: ReferenceScope): ResolvedReference {
  const key = nameKey(namespace, name)
  if (port === undefined) return invalid('UnsupportedValue', `backendRef to Service ${key} needs a port`)
  const service = services.get(namespace, name)
  if (service === undefined) {
    const message = `backend(${services.hostname(namespace, name)}) not found: there is no Service ${key}`
    // Statuses have one reason for all missing objects; the response to clients names the kind.
    return {
      ref: { invalid: { reason: 'ServiceNotFound', message } },
      invalid: { reason: 'BackendNotFound', message },
    }
  }
  const fault = serviceFault(service, port)
  if (fault !== undefined) return { ref: { invalid: fault }, invalid: fault }
  return { ref: { service: { hostname: services.hostname(namespace, name), namespace, port } } }
}

function serviceFault(service: Service, port: number): InvalidReference | undefined {
  const key = nameKey(service.metadata.namespace ?? '', service.metadata.name)
  if (service.spec?.type === 'ExternalName') {
    // It would allow an object to reach any host of the proxy's network without a grant.
    return { reason: 'UnsupportedValue', message: `Service ${key} is of type ExternalName; use a static GwBackend` }
  }
  const ports = (service.spec?.ports ?? []).filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  if (ports.some((one) => one.port === port)) return undefined
  const known = ports.length === 0 ? 'none' : ports.map((one) => one.port).join(', ')
  return { reason: 'BackendNotFound', message: `Service ${key} has no TCP port ${port} (its ports: ${known})` }
}

function invalid(reason: InvalidReference['reason'], message: string): ResolvedReference {
  return { ref: { invalid: { reason, message } }, invalid: { reason, message } }
}
