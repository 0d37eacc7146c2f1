// Which backends of routes cannot answer any request now: GwBackends that cannot be used, and Services without a ready
// endpoint. Only routes with a changed result are checked again, so endpoints that come and go cost nothing.
import type { BackendReference } from '#api/ir/types.gen.ts'
import type { Memory } from '../memory.ts'
import { nameKey } from '../object-ref.ts'
import type { RouteFault } from '../route-fault.ts'
import type { AttachedRoute } from '../route/routes.ts'
import { type EndpointState, ReadyEndpoints } from '../service/ready-endpoints.ts'
import type { Snapshot } from '../snapshot.ts'

/** A GwBackend as far as it counts here. */
interface UsableBackend {
  readonly isUsable: boolean
}

export interface AvailabilitySettings {
  /** In a cluster, a Service without EndpointSlices has no endpoints. Manifests in a folder need not have any. */
  readonly areEndpointsComplete: boolean
  readonly hostname: (namespace: string, name: string) => string
}

export interface Availability {
  enter(snapshot: Pick<Snapshot, 'EndpointSlice'>, backends: ReadonlyMap<string, UsableBackend>): void
  /** The same routes, with their backends that cannot answer any request. */
  withFaults(routes: readonly AttachedRoute[]): readonly AttachedRoute[]
}

export function availabilityOf(memory: Memory, settings: AvailabilitySettings): Availability {
  const source = memory.source()
  const endpoints = new ReadyEndpoints()
  let unusable: ReadonlySet<string> = new Set()
  const isEmpty = (state: EndpointState): boolean =>
    state === 'none ready' || (state === 'no slices' && settings.areEndpointsComplete)
  const isUnusable = (key: string): boolean => unusable.has(key.slice(TO_BACKEND.length))
  const isServiceEmpty = (key: string): boolean => isEmpty(endpoints.stateOf(key.slice(TO_SERVICE.length)))
  const faultOf = ({ backend, service }: BackendReference): Omit<RouteFault, 'path'> | undefined => {
    if (backend !== undefined) {
      const isOut = memory.read(source, isUnusable, backendKey(backend))
      const message = `GwBackend ${backend} cannot be used; see its status`
      return isOut ? { reason: 'InvalidBackend', message } : undefined
    }
    if (service === undefined) return undefined
    const { hostname, namespace } = service
    const name = hostname.slice(0, hostname.indexOf('.'))
    // Host names of InferencePools are of another form.
    if (settings.hostname(namespace, name) !== hostname) return undefined
    const key = nameKey(namespace, name)
    const isOut = memory.read(source, isServiceEmpty, serviceKey(key))
    return isOut ? { reason: 'NoReadyEndpoints', message: `Service ${key} has no ready endpoints` } : undefined
  }
  const withFaults = memory.list((attached: AttachedRoute): AttachedRoute => {
    const unavailable = faultsOf(attached, faultOf)
    return unavailable.length === 0 ? attached : { ...attached, unavailable }
  })
  return {
    enter({ EndpointSlice }, backends) {
      const services = endpoints.enter(EndpointSlice.all)
      const now = new Set([...backends].flatMap(([key, { isUsable }]) => (isUsable ? [] : [key])))
      const before = unusable
      const flipped = [...before, ...now].filter((key) => before.has(key) !== now.has(key))
      unusable = now
      const keys = [...services.map(serviceKey), ...flipped.map(backendKey)]
      if (keys.length > 0) memory.changed(source, keys)
    },
    withFaults,
  }
}

const TO_BACKEND = 'backend '
const TO_SERVICE = 'service '

function backendKey(key: string): string {
  return TO_BACKEND + key
}

function serviceKey(key: string): string {
  return TO_SERVICE + key
}

type FaultOf = (ref: BackendReference) => Omit<RouteFault, 'path'> | undefined

/** Each message once, at the first place. A backend of weight 0 gets no requests. */
function faultsOf({ translation }: AttachedRoute, faultOf: FaultOf): RouteFault[] {
  const byMessage = new Map<string, RouteFault>()
  for (const [rule, { backends }] of [...translation.rules, ...(translation.l4Rules ?? [])].entries()) {
    for (const [at, { ref, weight }] of backends.entries()) {
      const fault = weight === 0 ? undefined : faultOf(ref)
      if (fault === undefined || byMessage.has(fault.message)) continue
      byMessage.set(fault.message, { path: `spec.rules[${rule}].backendRefs[${at}]`, ...fault })
    }
  }
  return [...byMessage.values()]
}
