// The resource that everything a proxy exports belongs to (data-plane supplement section 7.8): what the environment
// says, what the proxy knows, and what the policy says over both. Made once for each destination.
import { hostname } from 'node:os'
import type { Attribute } from './attributes.ts'
import { anyValueOf, text } from './attributes.ts'
import { type Environment, pairsOf } from './resource-variables.ts'

export interface ResourceInput {
  readonly environment: Environment
  /** Of the listener, where the environment names none. */
  readonly gateway: { readonly namespace: string; readonly name: string }
  readonly version: string
  /** Values of the policy's expressions; undefined: it failed. */
  readonly added: readonly { readonly name: string; readonly value: unknown }[]
}

const PREFIX = 'GW_'

export function resourceAttributes(input: ResourceInput): Attribute[] {
  const { environment, added } = input
  const get = (name: string): string | undefined => {
    const value = environment[PREFIX + name] ?? environment[name]
    return value === undefined || value.trim() === '' ? undefined : value.trim()
  }
  const attributes = new Map<string, Attribute['value']>()
  for (const [name, value] of pairsOf(get('OTEL_RESOURCE_ATTRIBUTES') ?? '')) attributes.set(name, text(value))
  for (const [name, value] of known(input, get)) if (value !== undefined) attributes.set(name, text(value))
  for (const { name, value } of added) {
    const converted = value === undefined || value === null ? undefined : anyValueOf(value)
    if (converted !== undefined) attributes.set(name, converted)
  }
  return [...attributes].map(([key, value]) => ({ key, value }))
}

function known(
  { gateway, version }: ResourceInput,
  get: (name: string) => string | undefined,
): (readonly [string, string | undefined])[] {
  const namespace = get('NAMESPACE') ?? get('POD_NAMESPACE')
  return [
    ['service.name', get('GATEWAY') ?? get('OTEL_SERVICE_NAME') ?? gateway.name],
    ['service.namespace', namespace ?? gateway.namespace],
    ['service.version', version],
    ['service.instance.id', get('POD_NAME') ?? `${hostname()}-${process.pid}`],
    ['k8s.pod.name', get('POD_NAME')],
    ['k8s.namespace.name', namespace],
    ['k8s.node.name', get('NODE_NAME')],
    ['k8s.pod.ip', get('INSTANCE_IP')],
    ['host.name', hostname()],
  ]
}
