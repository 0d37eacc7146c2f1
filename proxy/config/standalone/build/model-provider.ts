// The provider of a model of the `llm` section, in the terms of a provider of a backend.
import { FORMATS, FORMATS_IN_FILES, type FormatName } from '#api/llm/formats.ts'
import { SERVICES } from '#api/llm/services.ts'
import type { NamedProviderFields, ProviderFields } from '../schema/backends.ts'
import { type BuiltInName, type ProviderParams, type ProviderValue, SERVICES_IN_FILES } from '../schema/llm.ts'
import type { Address } from '../schema/values.ts'
import type { BuildContext } from './context.ts'
import { defined } from './defined.ts'
import { serverOfUrl } from './mcp-backend.ts'

const TLS_PORT = 443
const DEFAULT_REGION = 'us-east-1'
/** Of Ollama, which runs on the same machine unless an address is set (resources supplement 1.8). */
const OLLAMA_URL = 'http://localhost:11434/v1'

export interface ChosenProvider {
  readonly provider: Exclude<ProviderValue, { readonly reference: string }>
  readonly params: ProviderParams
  readonly pathOf: (field: keyof ProviderParams) => string
}

export interface Target {
  readonly fields: Omit<NamedProviderFields, 'name' | 'policies'>
  /** Unless policies set it. */
  readonly isTls: boolean
  /** Name in telemetry of a service without code of its own. */
  readonly service: string | undefined
}

/** `model`: to request if the parameters name none. undefined: reported. */
export function targetOf(chosen: ChosenProvider, model: string | undefined, context: BuildContext): Target | undefined {
  const { provider, params, pathOf } = chosen
  const server = serverOf(chosen, context)
  const kind = kindOf(chosen, defined({ model: params.model ?? model }), context)
  if (server === undefined || kind === undefined) return undefined
  if (kind.isAddressRequired && server.address === undefined) {
    const which = typeof provider === 'string' ? provider : 'custom'
    context.error(pathOf('baseUrl'), `is required with the provider ${which}: the address of its server`)
    return undefined
  }
  const isOwn = server.address === undefined
  const { pathOverride, tokenize } = params
  const pathPrefix = pathOverride === undefined ? prefixOf(params, server, kind) : params.pathPrefix
  return {
    fields: {
      provider: kind.fields,
      ...defined({ hostOverride: isOwn ? kind.address : server.address, pathOverride, pathPrefix, tokenize }),
    },
    service: typeof provider === 'string' && SERVICES_IN_FILES.has(provider) ? provider : undefined,
    isTls: isOwn ? kind.address !== undefined : server.isTls,
  }
}

interface Server {
  /** undefined: that of the provider. */
  readonly address: Address | undefined
  readonly path: string | undefined
  readonly isTls: boolean
  readonly isUrl: boolean
}

/** undefined: reported. */
function serverOf({ provider, params, pathOf }: ChosenProvider, context: BuildContext): Server | undefined {
  const { hostOverride } = params
  const ownUrl = provider === 'ollama' && hostOverride === undefined ? OLLAMA_URL : undefined
  const baseUrl = params.baseUrl ?? ownUrl
  if (baseUrl === undefined) return { address: hostOverride, path: undefined, isTls: false, isUrl: false }
  if (hostOverride !== undefined) {
    context.error(pathOf('hostOverride'), 'must not be set together with baseUrl')
  }
  const server = serverOfUrl(baseUrl, pathOf('baseUrl'), context)
  return server && { ...server, path: server.path?.replace(/\/+$/, ''), isUrl: true }
}

function prefixOf({ pathPrefix }: ProviderParams, { path, isUrl }: Server, kind: Kind): string | undefined {
  return pathPrefix ?? path ?? (isUrl || kind.hasPrefix ? kind.basePath : undefined)
}

interface Kind {
  readonly fields: ProviderFields
  /** Of a service without code of its own; undefined: set by the proxy, or none. */
  readonly address: Address | undefined
  readonly isAddressRequired: boolean
  /** Beginning of the path at another address. */
  readonly basePath: string | undefined
  /** It applies at any address. */
  readonly hasPrefix: boolean
}

interface Asked {
  readonly model?: string
}

function kindOf({ provider, params, pathOf }: ChosenProvider, asked: Asked, context: BuildContext): Kind | undefined {
  if (typeof provider !== 'string') {
    const fields = { custom: { ...provider.custom, ...asked } }
    return { fields, address: undefined, isAddressRequired: true, basePath: undefined, hasPrefix: false }
  }
  const name = SERVICES_IN_FILES.get(provider)
  if (name !== undefined) {
    const { host, pathPrefix, formats } = SERVICES[name]
    const fields = {
      custom: { formats: formats.map((format) => ({ ...format, type: IN_FILES[format.type] })), ...asked },
    }
    const address = host === undefined ? undefined : { host, port: TLS_PORT }
    return { fields, address, isAddressRequired: address === undefined, basePath: pathPrefix, hasPrefix: true }
  }
  // The schema accepts no other name.
  const { basePath, settings } = BUILT_IN[provider as BuiltInName]
  const fields = settings(params, asked)
  if (typeof fields !== 'string') {
    return { fields, address: undefined, isAddressRequired: false, basePath, hasPrefix: false }
  }
  context.error(pathOf(fields), `is required with the provider ${provider}`)
  return undefined
}

/** The settings, or the parameter that is missing. */
type Settings = (params: ProviderParams, asked: Asked) => ProviderFields | keyof ProviderParams

interface BuiltIn {
  readonly basePath: string | undefined
  readonly settings: Settings
}

const OPENAI: BuiltIn = { basePath: '/v1', settings: (_, asked) => ({ openAI: asked }) }

const BUILT_IN: { readonly [N in BuiltInName]: BuiltIn } = {
  openai: OPENAI,
  openAI: OPENAI,
  anthropic: { basePath: '/v1', settings: (_, asked) => ({ anthropic: asked }) },
  gemini: { basePath: undefined, settings: (_, asked) => ({ gemini: asked }) },
  bedrock: {
    basePath: undefined,
    settings: ({ awsRegion: region = DEFAULT_REGION }, asked) => ({ bedrock: { region, ...asked } }),
  },
  vertex: {
    basePath: undefined,
    settings: ({ vertexProject: projectId, vertexRegion: region }, asked) =>
      projectId === undefined ? 'vertexProject' : { vertex: defined({ projectId, region, ...asked }) },
  },
  azure: { basePath: undefined, settings: azureOf },
}

function azureOf(params: ProviderParams, asked: Asked): ReturnType<Settings> {
  const { azureResourceName, azureResourceType, azureApiVersion, azureProjectName } = params
  if (azureResourceName === undefined) return 'azureResourceName'
  if (azureResourceType === undefined) return 'azureResourceType'
  const fields = { resourceName: azureResourceName, resourceType: azureResourceType }
  return { azure: { ...fields, ...defined({ apiVersion: azureApiVersion, projectName: azureProjectName }), ...asked } }
}

type FormatInFiles = (typeof FORMATS_IN_FILES)[number]
// Object.fromEntries loses the type of the keys: each format has one name in files.
const IN_FILES = Object.fromEntries(FORMATS_IN_FILES.map((name) => [FORMATS[name], name])) as Readonly<
  Record<FormatName, FormatInFiles>
>
