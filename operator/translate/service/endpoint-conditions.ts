// What the conditions of an endpoint of an EndpointSlice say. Unset: ready (discovery.k8s.io/v1).
import type { Endpoint } from '../kube.ts'

export function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false
}

/**
 * When no endpoint is ready, those that still serve while they terminate take the requests, as kube-proxy does: the
 * last Pod of a node that is drained answers until it is gone.
 */
export function isServing(endpoint: Endpoint): boolean {
  const { serving, terminating } = endpoint.conditions ?? {}
  return isReady(endpoint) || (serving === true && terminating === true)
}
