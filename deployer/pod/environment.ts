// Environment variables of the container, in the order of the contract. A variable of the user takes the place of a
// built-in one of the same name, with or without our prefix, and stands at the end, where `$(NAME)` sees all others.
import { POD_ENVIRONMENT } from '#api/delivery/pod-contract.ts'
import type { EnvVar } from '#api/v1alpha1/gwparameters.gen.ts'
import type { EffectiveMesh } from '../parameters/mesh.ts'
import type { EffectiveParameters } from '../parameters/effective.ts'

export interface EnvironmentInput {
  readonly gatewayName: string
  readonly parameters: EffectiveParameters
  /** Unset: rawConfig says it. */
  readonly logLevel: string | undefined
  /** Name and key of the Secret; undefined: the user gives the key. */
  readonly sessionKey: { readonly name: string; readonly key: string } | undefined
  readonly catalogPaths: readonly string[]
  readonly further: Readonly<Record<string, string>>
}

/** The proxy reads each variable under both names. */
const PREFIX = 'GW_'

export function environment(input: EnvironmentInput): EnvVar[] {
  const taken = new Set(input.parameters.env.map(({ name }) => plainName(name)))
  const builtIn = builtInVariables(input).filter(({ name }) => !taken.has(plainName(name)))
  return [...builtIn, ...input.parameters.env]
}

/** Whether the user gives the session key, so that the controller keeps none. */
export function hasOwnSessionKey(env: readonly EnvVar[]): boolean {
  return env.some(({ name }) => plainName(name) === POD_ENVIRONMENT.sessionKey)
}

function builtInVariables({
  gatewayName,
  parameters,
  logLevel,
  sessionKey,
  catalogPaths,
  further,
}: EnvironmentInput): EnvVar[] {
  const { shutdown, mesh } = parameters
  const names = POD_ENVIRONMENT
  return [
    { name: names.gracePeriod, value: String(shutdown.max) },
    { name: names.minTermination, value: `${shutdown.min}s` },
    field(names.nodeName, 'spec.nodeName'),
    field(names.podNamespace, 'metadata.namespace'),
    field(names.podName, 'metadata.name'),
    ...(logLevel === undefined ? [] : [{ name: names.logLevel, value: logLevel }]),
    ...(sessionKey === undefined ? [] : [{ name: names.sessionKey, valueFrom: { secretKeyRef: { ...sessionKey } } }]),
    field(names.namespace, 'metadata.namespace'),
    { name: names.gateway, value: gatewayName },
    { name: names.cpuLimit, valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1' } } },
    field(names.instanceIp, 'status.podIP'),
    field(names.serviceAccount, 'spec.serviceAccountName'),
    ...(mesh === undefined ? [] : meshVariables(mesh)),
    ...(catalogPaths.length === 0 ? [] : [{ name: names.modelCatalogPaths, value: catalogPaths.join(',') }]),
    ...Object.entries(further).map(([name, value]) => ({ name, value })),
  ]
}

function meshVariables({
  caAddress,
  trustDomain,
  additionalTrustDomains,
  clusterId,
  network,
}: EffectiveMesh): EnvVar[] {
  const values: readonly (readonly [string, string | undefined])[] = [
    ['CA_ADDRESS', caAddress],
    ['TRUST_DOMAIN', trustDomain],
    ['ADDITIONAL_TRUST_DOMAINS', additionalTrustDomains.join(',')],
    ['CLUSTER_ID', clusterId],
    ['NETWORK', network],
  ]
  return values.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value }]))
}

function field(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } }
}

function plainName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name
}
