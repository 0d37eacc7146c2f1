// A rendered configuration that no proxy has loaded yet, in the form of a configuration dump, and the policies in force
// for its rules. Pure: for the web UI of the controller, which has no figures of endpoints.
import type { components } from '#api/admin/types.gen.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { configDump } from '#proxy/admin/config-dump.ts'
import { effectivePolicies } from '#proxy/config/effective-policies.ts'
import { endpointRows, fieldsOf, textOf, type Dump, type EndpointRow } from './backends.ts'
import { givenName } from './given-names.ts'

export type Translated = RenderedConfig

export function translatedDump(config: Translated): Dump {
  return configDump({
    config,
    figures: () => undefined,
    certificates: [],
    credentials: [],
    listenAddress: '',
    place: {},
    version: {},
    settings: {},
  })
}

/** Of the rule with this key; undefined: the configuration has no such rule. */
export function policiesInForce(
  config: Translated,
  route: string,
): components['schemas']['EffectivePolicies'] | undefined {
  return effectivePolicies(config, route)
}

export interface TranslatedEndpoint extends Pick<EndpointRow, 'type' | 'name' | 'namespace' | 'endpoint'> {
  /** Why a backend has no endpoint; it takes its place. */
  readonly missing?: string
  /** What takes requests without an endpoint of its own. */
  readonly note?: string
}

/** Also Services and backends without endpoints. */
export function translatedEndpoints(dump: Dump): TranslatedEndpoint[] {
  const known = endpointRows(dump, true)
  const named = new Set(known.map(placeOf))
  const services = dump.services.map(({ name, namespace }): TranslatedEndpoint => {
    return { type: 'Service', name, namespace, endpoint: '', missing: 'no ready endpoints' }
  })
  const backends = dump.backends.flatMap(({ backend }) => Object.entries(fieldsOf(backend)).flatMap(backendRows))
  return [...known, ...[...services, ...backends].filter((one) => !named.has(placeOf(one)))]
}

/** Addresses of a backend that has no live figures here. */
function backendRows([kind, variant]: [kind: string, variant: unknown]): TranslatedEndpoint[] {
  const { name, namespace, section, target } = fieldsOf(variant)
  const place = {
    type: 'Backend',
    name: givenName(textOf(name), textOf(section)),
    namespace: textOf(namespace),
  } as const
  if (kind === 'invalid') return [{ ...place, endpoint: '', missing: textOf(target) }]
  if (kind === 'dynamic') return [{ ...place, endpoint: '', note: 'the address of each request' }]
  if (typeof target === 'string') return [{ ...place, endpoint: target }]
  const { targets } = fieldsOf(target)
  if (!Array.isArray(targets)) return [{ ...place, endpoint: '' }]
  return targets.map((server: unknown) => ({
    ...place,
    endpoint: textOf(fieldsOf(server)['name']),
    note: 'MCP server',
  }))
}

function placeOf({ type, namespace, name }: Pick<EndpointRow, 'type' | 'namespace' | 'name'>): string {
  return [type, namespace, name].join(' ')
}
