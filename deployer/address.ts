// The fixed address that a Gateway asks for. A Service takes one at most.
import { isIP } from 'node:net'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { DeployProblem } from './input.ts'
import { refOf } from './kube-object.ts'

export interface WantedAddress {
  readonly ip: string | undefined
  readonly problems: readonly DeployProblem[]
}

/** Addresses without a value are for the cluster to choose. */
export function wantedAddress(gateway: Gateway): WantedAddress {
  const addresses = gateway.spec.addresses ?? []
  const given = addresses.map((address, index) => ({ ...address, index })).filter(({ value = '' }) => value !== '')
  const problems: DeployProblem[] = given.flatMap(({ type = 'IPAddress', value = '', index }) => {
    const path = `spec.addresses[${index}]`
    if (type !== 'IPAddress')
      return [problem(gateway, `${path}.type`, `addresses of type ${type} cannot be used; use IPAddress`)]
    return isIP(value) === 0 ? [problem(gateway, `${path}.value`, `"${value}" is not an IP address`)] : []
  })
  if (problems.length === 0 && given.length > 1) {
    const message = 'a Service has one address; set one, or use several Gateways'
    problems.push(problem(gateway, 'spec.addresses', message))
  }
  return { ip: problems.length === 0 ? given[0]?.value : undefined, problems }
}

function problem(gateway: Gateway, path: string, message: string): DeployProblem {
  return { object: refOf(gateway), path, reason: 'UnsupportedAddress', message, severity: 'error' }
}
