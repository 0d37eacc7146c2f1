// Providers of models and MCP servers in a configuration dump as rows. Pure.
import { type EndpointRow, endpointRow, fieldsOf, textOf } from '#cli/proxy/backends.ts'
import { givenName, givenReference } from '#cli/proxy/given-names.ts'
import type { Dump } from './api.ts'

export interface ProviderRow extends EndpointRow {
  /** Position of its failover group; the first one is used while it is healthy. */
  readonly group: number
  /** Such as `openai`. */
  readonly vendor: string
  /** Replaces the name in requests; empty: as requested. */
  readonly model: string
  /** Instead of the address of the vendor. */
  readonly address: string
}

export interface ServerRow extends EndpointRow {
  readonly protocol: string
  readonly address: string
  /** How the backend joins its servers. */
  readonly mode: string
  /** The proxy starts it for each session. */
  readonly isProcess: boolean
  /** Those of an OpenAPI document; the tools of other servers are known to their clients only. */
  readonly tools: readonly KnownTool[]
}

export interface KnownTool {
  readonly name: string
  readonly description: string
  readonly schema: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** Before the names of backends that are processes (proxy/mcp/targets/stdio-bridge.ts). */
const PROCESS = 'stdio/'

interface Place {
  readonly type: 'Backend'
  readonly name: string
  readonly namespace: string
}

export function providerRows(dump: Dump): ProviderRow[] {
  return variantsOf(dump, 'ai').flatMap(([place, target]) =>
    listOf(target['providers']).flatMap((group, i) => {
      const { active, rejected } = fieldsOf(group)
      return Object.entries({ ...fieldsOf(active), ...fieldsOf(rejected) }).map(([name, provider]): ProviderRow => {
        const { endpoint, info } = fieldsOf(provider)
        const { provider: vendor, hostOverride, backendRef } = fieldsOf(endpoint)
        const [kind = '', settings] = Object.entries(fieldsOf(vendor))[0] ?? []
        return {
          ...endpointRow({ ...place, endpoint: name }, info),
          group: i + 1,
          vendor: kind,
          model: textOf(fieldsOf(settings)['model']),
          address: textOf(hostOverride) || referenceText(backendRef),
        }
      })
    }),
  )
}

export function serverRows(dump: Dump): ServerRow[] {
  return variantsOf(dump, 'mcp').flatMap(([place, target]) => {
    const prefixes = `prefixes ${textOf(target['prefixMode'])}`
    const mode = [target['stateful'] === true ? 'stateful' : 'stateless', prefixes, textOf(target['failureMode'])]
    return listOf(target['targets']).map((server): ServerRow => {
      const { name, protocol, ref, path, info, openapi } = fieldsOf(server)
      const address = referenceText(ref)
      const isProcess = address.startsWith(PROCESS)
      return {
        ...endpointRow({ ...place, endpoint: textOf(name) }, info),
        protocol: protocolOf(textOf(protocol), isProcess, openapi !== undefined),
        address: isProcess ? '' : `${address} ${textOf(path)}`.trim(),
        mode: mode.join(', '),
        isProcess,
        tools: listOf(fieldsOf(openapi)['operations']).map(toolOf),
      }
    })
  })
}

function protocolOf(given: string, isProcess: boolean, isDocument: boolean): string {
  if (isProcess) return 'stdio'
  return isDocument ? 'OpenAPI' : given
}

function toolOf(operation: unknown): KnownTool {
  const { name, description, inputSchema } = fieldsOf(operation)
  return { name: textOf(name), description: textOf(description), schema: JSON.parse(textOf(inputSchema) || '{}') }
}

/** The backends of a kind, with what the kind adds. */
export function variantsOf({ backends }: Dump, kind: string): (readonly [Place, target: Fields])[] {
  return backends.flatMap(({ backend }) => {
    const variant = backend[kind]
    if (variant === undefined) return []
    const { name, namespace, section, target } = fieldsOf(variant)
    const place: Place = {
      type: 'Backend',
      name: givenName(textOf(name), textOf(section)),
      namespace: textOf(namespace),
    }
    return [[place, fieldsOf(target)] as const]
  })
}

function referenceText(ref: unknown): string {
  const { backend, service } = fieldsOf(ref)
  const { namespace, hostname, port } = fieldsOf(service)
  return service === undefined
    ? givenReference(textOf(backend))
    : `${String(namespace)}/${String(hostname)}:${String(port)}`
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
