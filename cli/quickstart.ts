// What `gw run` runs without a file: a provider of models that the user named. Without one, the ways to start. Pure.
import type { SourceFile } from './manifests/files.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface ProviderFlags {
  readonly file?: string
  readonly provider?: QuickProvider
  readonly port?: number
}

export type RunSource =
  /** `text`: the content of standard input that the path `-` stands for; undefined: the path is read. */
  | { readonly path: string; readonly text: SourceFile | undefined; readonly notes: readonly string[] }
  | { readonly problem: string }

interface Entry {
  /** Variable with the key of the provider; undefined: credentials of the environment, or none. */
  readonly variable: string | undefined
  readonly params?: Readonly<Record<string, string>>
  /** Another variable that must be set, and its content. */
  readonly needs?: { readonly variable: string; readonly content: string }
}

const PORT = 4000

/** Providers that need only variables, by their names in standalone files, with the variables of their SDKs. */
const PROVIDERS = {
  openai: { variable: 'OPENAI_API_KEY' },
  anthropic: { variable: 'ANTHROPIC_API_KEY' },
  gemini: { variable: 'GEMINI_API_KEY' },
  bedrock: { variable: undefined, params: { awsRegion: '${AWS_REGION:-us-east-1}' } },
  baseten: { variable: 'BASETEN_API_KEY' },
  cerebras: { variable: 'CEREBRAS_API_KEY' },
  cohere: { variable: 'COHERE_API_KEY' },
  deepinfra: { variable: 'DEEPINFRA_API_KEY' },
  deepseek: { variable: 'DEEPSEEK_API_KEY' },
  fireworks: { variable: 'FIREWORKS_API_KEY' },
  groq: { variable: 'GROQ_API_KEY' },
  huggingface: { variable: 'HF_TOKEN' },
  mistral: { variable: 'MISTRAL_API_KEY' },
  ollama: { variable: undefined, params: { baseUrl: '${OLLAMA_URL:-http://127.0.0.1:11434}' } },
  openrouter: { variable: 'OPENROUTER_API_KEY' },
  togetherai: { variable: 'TOGETHER_API_KEY' },
  vertex: {
    variable: undefined,
    params: { vertexProject: '${GOOGLE_CLOUD_PROJECT}', vertexRegion: '${GOOGLE_CLOUD_LOCATION:-global}' },
    needs: { variable: 'GOOGLE_CLOUD_PROJECT', content: 'the id of the project with the models' },
  },
  xai: { variable: 'XAI_API_KEY' },
} as const satisfies Readonly<Record<string, Entry>>

export type QuickProvider = keyof typeof PROVIDERS

export const QUICK_PROVIDERS: readonly string[] = Object.keys(PROVIDERS)

export function runSource({ file, provider, port }: ProviderFlags, environment: Environment): RunSource {
  if (file !== undefined) {
    if (provider === undefined && port === undefined) return { path: file, text: undefined, notes: [] }
    return { problem: '--file has all settings: omit --provider and --port' }
  }
  if (provider === undefined) return { problem: waysToStart(environment) }
  const { variable, needs }: Entry = PROVIDERS[provider]
  const required = variable === undefined ? needs : { variable, content: `the key of ${provider}` }
  if (required !== undefined && (environment[required.variable] ?? '').trim() === '') {
    return { problem: `${required.variable} is not set; set it to ${required.content}` }
  }
  const at = `http://127.0.0.1:${port ?? PORT}`
  return {
    path: '-',
    text: { path: `--provider ${provider}`, text: standaloneText(provider, port ?? PORT) },
    notes: [
      `models of ${provider}: ${at}/v1 for OpenAI clients, ${at} for Anthropic and Gemini clients`,
      `list them with: curl ${at}/v1/models`,
    ],
  }
}

/** The keys stay variables, which are replaced when the file is loaded. */
function standaloneText(provider: QuickProvider, port: number): string {
  const { variable, params = {} }: Entry = PROVIDERS[provider]
  const all = { ...params, ...(variable !== undefined && { apiKey: `\${${variable}}` }) }
  return [
    'llm:',
    `  port: ${port}`,
    '  policies:',
    '    authorization:',
    '      rules:',
    '        # Clients need no key here, so pages of other sites must not reach the port through a browser.',
    `        - deny: '"sec-fetch-site" in request.headers && request.headers["sec-fetch-site"] == "cross-site"'`,
    '  models:',
    '    - name: "*"',
    `      provider: ${provider}`,
    '      params:',
    ...Object.entries(all).map(([name, value]) => `        ${name}: "${value}"`),
    '',
  ].join('\n')
}

function waysToStart(environment: Environment): string {
  const found = Object.entries<Entry>(PROVIDERS).filter(
    ([, { variable }]) => variable !== undefined && (environment[variable] ?? '') !== '',
  )
  const providers = found.length === 0 ? ([['openai', PROVIDERS.openai]] as [string, Entry][]) : found
  return [
    'gw run needs a provider of models or a file:',
    ...providers.map(([name, { variable = '' }]) => {
      const note = found.length === 0 ? `with its key in ${variable}` : `${variable} is set`
      return `  gw run --provider ${name}`.padEnd(NOTE_COLUMN) + note
    }),
    '  gw run --provider ollama'.padEnd(NOTE_COLUMN) + 'models of this machine, without a key',
    '  gw run -f FILE'.padEnd(NOTE_COLUMN) + 'a standalone file, or a folder of Kubernetes manifests',
    'The smallest file serves the server of port 3000 on port 8080:',
    ...SMALLEST_FILE.map((line) => `  ${line}`),
  ].join('\n')
}

export const SMALLEST_FILE: readonly string[] = [
  'gateways: { default: { port: 8080 } }',
  'routes: [{ backends: [{ host: "127.0.0.1:3000" }] }]',
]

const NOTE_COLUMN = 34
