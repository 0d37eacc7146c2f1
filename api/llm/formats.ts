// The formats of model APIs and the types of LLM routes: their names in resources and in standalone files.
import type { ProviderFormat, RouteMatch, RouteType } from '../ir/types.gen.ts'

/** Formats that clients use, and that a custom provider may have. */
export type FormatName = ProviderFormat['type']

/** Formats for chats that only one provider has: no route and no custom provider names them. */
const OWN_CHATS = ['Converse'] as const

/** Such formats for embeddings, rerank and token counts. */
export const OWN_PLAIN_FORMATS = [
  'Predict',
  'Rank',
  'TitanEmbeddings',
  'CohereEmbeddings',
  'NovaEmbeddings',
  'BedrockRerank',
  'BedrockCountTokens',
] as const

export const OWN_FORMATS = [...OWN_CHATS, ...OWN_PLAIN_FORMATS] as const

export type OwnPlainFormat = (typeof OWN_PLAIN_FORMATS)[number]

/** Formats in which requests are sent to providers. */
export type SentFormatName = FormatName | (typeof OWN_FORMATS)[number]

/** By the name in a standalone file. */
export const FORMATS: { readonly [N in FormatName as Uncapitalize<N>]: N } = {
  completions: 'Completions',
  messages: 'Messages',
  responses: 'Responses',
  embeddings: 'Embeddings',
  anthropicTokenCount: 'AnthropicTokenCount',
  realtime: 'Realtime',
  rerank: 'Rerank',
  generateContent: 'GenerateContent',
  geminiCountTokens: 'GeminiCountTokens',
}

/** By the name in a standalone file. */
export const ROUTE_TYPES: { readonly [N in RouteType as Uncapitalize<N>]: N } = {
  ...FORMATS,
  models: 'Models',
  passthrough: 'Passthrough',
  detect: 'Detect',
}

/** Types of requests to the models of a listener, by path suffix (data-plane supplement section 3.1). */
export const MODEL_ROUTES: Readonly<Record<string, RouteType>> = {
  '/v1/chat/completions': 'Completions',
  '/v1/messages': 'Messages',
  '/v1/messages/count_tokens': 'AnthropicTokenCount',
  '/v1/responses': 'Responses',
  '/v1/responses/compact': 'Detect',
  '/v1/images/generations': 'Detect',
  '/v1/images/edits': 'Detect',
  '/v1/images/variations': 'Detect',
  '/v1/embeddings': 'Embeddings',
  '/v1/rerank': 'Rerank',
  '/v2/rerank': 'Rerank',
  '/v1/realtime': 'Realtime',
  ':generateContent': 'GenerateContent',
  ':streamGenerateContent': 'GenerateContent',
  ':countTokens': 'GeminiCountTokens',
  '*': 'Passthrough',
}

/** Requests to the models of a listener that other routes share: the paths above, and the list of models. */
export const MODEL_MATCHES: readonly RouteMatch[] = [
  ...['/v1/models', '/models', ...Object.keys(MODEL_ROUTES)]
    .filter((suffix) => suffix.startsWith('/'))
    .map((exact) => ({ path: { exact } })),
  // Of Gemini: the name of the model is in the path. Any prefix has precedence over a regular expression.
  ...['/v1beta', '/v1', '/v1alpha'].flatMap((version) =>
    ['models', 'tunedModels'].map((kind) => ({ method: 'POST', path: { pathPrefix: `${version}/${kind}` } })),
  ),
  ...Object.keys(MODEL_ROUTES)
    .filter((suffix) => suffix.startsWith(':'))
    .map((suffix) => ({ path: { regex: `.*${suffix}` } })),
  // One model.
  ...['/v1/models', '/models'].map((pathPrefix) => ({ method: 'GET', path: { pathPrefix } })),
]

// Object.keys loses the type of the keys, which are exactly the names.
export const FORMATS_IN_FILES = Object.keys(FORMATS) as readonly (keyof typeof FORMATS)[]
export const ROUTE_TYPES_IN_FILES = Object.keys(ROUTE_TYPES) as readonly (keyof typeof ROUTE_TYPES)[]
