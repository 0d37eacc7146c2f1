// Azure OpenAI and Azure AI Foundry (data-plane supplement sections 3.2 and 3.3).
import type { AzureProvider } from '#api/ir/types.gen.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { bearerToken } from './bearer-token.ts'
import { ANTHROPIC_VERSION } from './anthropic.ts'
import type { Provider } from './provider.ts'

const OPENAI_STYLE: ReadonlySet<SentFormatName> = new Set(['Responses', 'Completions', 'Embeddings', 'Rerank'])
const CLAUDE: ReadonlySet<SentFormatName> = new Set(['Messages', 'AnthropicTokenCount'])

const VERSION_PARAMETER = 'api-version'
const VERSION_DEFAULT = 'v1'
/** Versions of the API whose paths contain no deployment. */
const UNDATED: ReadonlySet<string> = new Set([VERSION_DEFAULT, 'preview'])

export const azure: Provider<AzureProvider> = {
  model: ({ model }) => model,
  formats: ({ resourceType }) =>
    resourceType === 'Foundry' ? (model) => (isClaude(model) ? CLAUDE : OPENAI_STYLE) : () => OPENAI_STYLE,
  paths(settings, prefix) {
    const own = (prefix ?? '').replace(/\/+$/, '')
    const openai = `${own}${projectPath(settings)}/openai`
    const { apiVersion = VERSION_DEFAULT } = settings
    const query = apiVersion === VERSION_DEFAULT ? '' : `?${VERSION_PARAMETER}=${encodeURIComponent(apiVersion)}`
    const isDated = !UNDATED.has(apiVersion)
    return ({ name, path }, model) => {
      if (CLAUDE.has(name)) return `${own}/anthropic/v1${path}`
      if (!isDated) return `${openai}/v1${path}${query}`
      if (name === 'Responses') return `${openai}${path}${query}`
      return `${openai}/deployments/${encodeURIComponent(model)}${path}${query}`
    }
  },
  keepsClientPath: true,
  ownQuery: new Set([VERSION_PARAMETER]),
  /**
   * Keys have a header field of their own: `api-key`, and `x-api-key` for Claude. Tokens of Microsoft Entra ID are
   * JWTs and stay in `authorization`; a key of the client beside them is removed.
   */
  prepareHeaders(headers, credential, sent) {
    const isForClaude = sent !== undefined && CLAUDE.has(sent.name)
    if (isForClaude && !headers.has('anthropic-version')) headers.set('anthropic-version', ANTHROPIC_VERSION)
    if (credential === 'Placed') return
    const token = bearerToken(headers)
    if (token === undefined) return
    for (const name of KEY_HEADERS) headers.remove(name)
    if (credential === 'Token' || isJwt(token)) return
    headers.remove('authorization')
    headers.set(isForClaude ? 'x-api-key' : 'api-key', token)
  },
}

const KEY_HEADERS = ['api-key', 'x-api-key'] as const

/** The names of deployments of Claude are those of the models, unless users change them. */
function isClaude(model: string): boolean {
  return model.toLowerCase().startsWith('claude')
}

/** The project is named like the resource if none is set. */
function projectPath({ resourceType, host, project }: AzureProvider): string {
  if (resourceType !== 'Foundry') return ''
  return `/api/projects/${encodeURIComponent(project ?? host.split('.', 1)[0] ?? '')}`
}

/** RFC 7519 section 3: a header, claims and a signature. Keys have no dots. */
function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)
}
