// Anthropic.
import type { ModelChoice } from '#api/ir/types.gen.ts'
import type { FormatName } from '#api/llm/formats.ts'
import { bearerToken } from './bearer-token.ts'
import { type Provider, usualPaths } from './provider.ts'

const SPOKEN: ReadonlySet<FormatName> = new Set(['Messages', 'AnthropicTokenCount'])
export const ANTHROPIC_VERSION = '2023-06-01'
const BROWSER_HEADERS = ['origin', 'access-control-request-method', 'access-control-request-headers']

export const anthropic: Provider<ModelChoice> = {
  model: ({ model }) => model,
  formats: () => () => SPOKEN,
  paths: (_, prefix) => usualPaths(prefix),
  keepsClientPath: true,
  /** A bearer key moves to `x-api-key`, unless it is an OAuth token. Users also store keys with the scheme in front. */
  prepareHeaders(headers, credential) {
    if (!headers.has('anthropic-version')) headers.set('anthropic-version', ANTHROPIC_VERSION)
    for (const name of BROWSER_HEADERS) headers.remove(name)
    const fetchMetadata = headers.fields.filter((field, i) => i % 2 === 0 && field.startsWith('sec-fetch-'))
    for (const name of fetchMetadata) headers.remove(name)
    if (credential !== 'Key') return
    const token = bearerToken(headers)
    if (token === undefined || token.startsWith('sk-ant-oat')) return
    headers.remove('authorization')
    headers.set('x-api-key', token)
  },
}
