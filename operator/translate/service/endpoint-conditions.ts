// Reads the conditions of an endpoint of an EndpointSlice. Unset: ready (discovery.k8s.io/v1).
import type { Endpoint } from '../kube.ts'

export function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false
}

/**
 * If no endpoint is ready, terminating endpoints that still serve get the requests, as with kube-proxy: the last Pod of
 * a drained node answers until it ends.
 */
export function isServing(endpoint: Endpoint): boolean {
  const { serving, terminating } = endpoint.conditions ?? {}
  return isReady(endpoint) || (serving === true && terminating === true)
}
