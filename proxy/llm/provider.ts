// What each provider slot is: host, formats, paths, headers (data-plane supplement section 3.3).
import type { AIProvider, Backend, ProviderFormat, RouteType } from '#api/ir/types.gen.ts'
import type { HeaderList } from '../http/headers.ts'

export type WireFormat = ProviderFormat['type']

export interface ProviderProfile {
  /** OpenTelemetry GenAI name. */
  readonly telemetryName: string
  /** undefined: the provider has no address of its own (custom). */
  readonly defaultHost: string | undefined
  readonly model: string | undefined
  readonly formats: ReadonlySet<WireFormat>
  /** Path for a format, prefix and overrides applied. */
  path(format: WireFormat): string
  /** Headers the provider insists on. `hasExplicitLocation`: the user placed the key, leave it there. */
  prepareHeaders(headers: HeaderList, hasExplicitLocation: boolean): void
}

const SUFFIX: Record<WireFormat, string> = {
  Completions: '/chat/completions',
  Messages: '/messages',
  Responses: '/responses',
  Embeddings: '/embeddings',
  AnthropicTokenCount: '/messages/count_tokens',
  Realtime: '/realtime',
  Rerank: '/rerank',
}
/** Providers at their own host are called with TLS. */
export const PROVIDER_PORT = 443
const BASE_PATH = '/v1'
const ANTHROPIC_VERSION = '2023-06-01'
const BROWSER_HEADERS = ['origin', 'access-control-request-method', 'access-control-request-headers']

/** undefined: this version cannot speak to the provider. */
export function providerProfile(provider: AIProvider): ProviderProfile | undefined {
  const { p1, p4, custom } = provider.provider
  if (p1 !== undefined) {
    return {
      telemetryName: 'openai',
      defaultHost: 'api.openai.com',
      model: p1.model,
      formats: new Set<WireFormat>(['Completions', 'Responses', 'Embeddings', 'Realtime', 'Rerank']),
      path: pathOf(provider),
      prepareHeaders() {},
    }
  }
  if (p4 !== undefined) {
    return {
      telemetryName: 'anthropic',
      defaultHost: 'api.anthropic.com',
      model: p4.model,
      formats: new Set<WireFormat>(['Messages', 'AnthropicTokenCount']),
      path: pathOf(provider),
      prepareHeaders: prepareAnthropicHeaders,
    }
  }
  if (custom === undefined) return undefined
  const paths = new Map(custom.formats.map(({ type, path }) => [type, path]))
  const fallback = pathOf(provider)
  return {
    telemetryName: 'custom',
    defaultHost: undefined,
    model: custom.model,
    formats: new Set(paths.keys()),
    path: (format) => paths.get(format) ?? fallback(format),
    prepareHeaders() {},
  }
}

/** Whether a model at this backend can be called: not where it is refused, or no provider of it is known here. */
export function isServed(backend: Backend | undefined): boolean {
  if (backend === undefined || backend.invalid !== undefined || backend.unsupported !== undefined) return false
  const { ai } = backend
  return (
    ai === undefined || ai.groups.some(({ providers }) => providers.some((one) => providerProfile(one) !== undefined))
  )
}

/** The format a route type is on the wire; undefined for types that are not one format. */
export function wireFormatOf(type: RouteType): WireFormat | undefined {
  if (type === 'Models' || type === 'Passthrough' || type === 'Detect') return undefined
  return type
}

function pathOf(provider: AIProvider): (format: WireFormat) => string {
  const { pathOverride, pathPrefix } = provider
  if (pathOverride !== undefined) return () => pathOverride
  const base = (pathPrefix ?? BASE_PATH).replace(/\/+$/, '')
  return (format) => base + SUFFIX[format]
}

/**
 * A bearer key moves to `x-api-key`, unless it is an OAuth token or the user chose where it goes. Users also store keys
 * with the scheme in front.
 */
function prepareAnthropicHeaders(headers: HeaderList, hasExplicitLocation: boolean): void {
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', ANTHROPIC_VERSION)
  for (const name of BROWSER_HEADERS) headers.remove(name)
  const fetchMetadata = headers.fields.filter((field, i) => i % 2 === 0 && field.startsWith('sec-fetch-'))
  for (const name of fetchMetadata) headers.remove(name)
  const authorization = headers.get('authorization')
  if (hasExplicitLocation || authorization === undefined) return
  const token = /^(?:bearer +)+(.+)$/i.exec(authorization)?.[1]
  if (token === undefined || token.startsWith('sk-ant-oat')) return
  headers.remove('authorization')
  headers.set('x-api-key', token)
}
