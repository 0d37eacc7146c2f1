// Where a Gateway is reachable: read from the Service that the deployer made for it.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { Service } from '../kube.ts'
import { nameKey, namespaceOf } from '../object-ref.ts'
import type { GatewayAddress } from '../object-status.ts'

/** Gateway API: at most this many addresses in a status. */
const ADDRESSES_MAX = 16

export type AddressesOf = (gateway: Gateway) => readonly GatewayAddress[]

export function gatewayAddresses(services: readonly Service[]): AddressesOf {
  const byOwner = new Map<string, Service>()
  for (const service of services) {
    const owner = service.metadata.ownerReferences?.find(
      ({ kind, controller }) => kind === 'Gateway' && controller === true,
    )
    if (owner === undefined) continue
    const key = nameKey(namespaceOf(service), owner.name)
    if (!byOwner.has(key)) byOwner.set(key, service)
  }
  return (gateway) => {
    const service = byOwner.get(nameKey(namespaceOf(gateway), gateway.metadata.name))
    return service === undefined ? [] : addressesOf(service, gateway).slice(0, ADDRESSES_MAX)
  }
}

/** Host names of the load balancer if it has any, else its IPs; without a load balancer the cluster's own addresses. */
function addressesOf({ spec, status }: Service, gateway: Gateway): GatewayAddress[] {
  const ingress = status?.loadBalancer?.ingress ?? []
  const hostnames = ingress.flatMap(({ hostname }) => hostname ?? [])
  if (hostnames.length > 0) return hostnames.map((value) => ({ type: 'Hostname', value }))
  const ips = ingress.flatMap(({ ip }) => ip ?? [])
  if (ips.length > 0 || spec?.type === 'LoadBalancer') return ips.map(ipAddress)
  const own = (spec?.clusterIPs ?? []).filter((value) => value !== '' && value !== 'None')
  const wanted = (gateway.spec.addresses ?? []).flatMap(({ type = 'IPAddress', value }) =>
    type === 'IPAddress' && value !== undefined && value !== '' ? [value] : [],
  )
  return [...new Set([...own, ...wanted])].map(ipAddress)
}

function ipAddress(value: string): GatewayAddress {
  return { type: 'IPAddress', value }
}
