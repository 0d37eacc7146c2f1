// Amazon Bedrock: the Converse API, signed for AWS (data-plane supplement sections 3.3 and 3.9).
import type { BedrockProvider } from '#api/ir/types.gen.ts'
import { isRecord, parseJson } from '#api/json.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { bedrockRegion } from '../../backend/provider-address.ts'
import type { HeaderList } from '../../message/headers.ts'
import { traitsOf } from '../traits/table.ts'
import { asObject, type JsonObject } from '../json.ts'
import { Untranslatable } from '../translate/untranslatable.ts'
import type { Provider, RequestFacts } from './provider.ts'

const SPOKEN: ReadonlySet<SentFormatName> = new Set(['Converse'])

const METADATA = 'x-bedrock-metadata'
const BETA = 'anthropic-beta'
/** Of clients of other vendors: Bedrock has another media type for streams, and another credential. */
const REMOVED = [METADATA, BETA, 'anthropic-version', 'accept'] as const

/** Those that the vendor lists for Claude on Bedrock; it rejects all others. */
const BETAS: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'fine-grained-tool-streaming-2025-05-14',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
])

export const bedrock: Provider<BedrockProvider> = {
  model: ({ model }) => model,
  formats: () => () => SPOKEN,
  paths(_, prefix = '') {
    const base = prefix.replace(/\/+$/, '')
    return ({ path }, model, isStreaming) =>
      `${base}/model/${encodedModel(model)}${path}${isStreaming && path === '/converse' ? '-stream' : ''}`
  },
  keepsClientPath: false,
  signingRegion: bedrockRegion,
  prepareHeaders(headers, credential) {
    for (const name of REMOVED) headers.remove(name)
    // The key of a client of Anthropic; the signature needs none.
    if (credential === 'Key') headers.remove('x-api-key')
  },
  finish(body, { guardrail }, facts) {
    if (facts.sent !== 'Converse') return
    if (guardrail !== undefined) {
      const { identifier, version } = guardrail
      body['guardrailConfig'] = { guardrailIdentifier: identifier, guardrailVersion: version, trace: 'enabled' }
    }
    const metadata = facts.headers.get(METADATA)
    if (metadata !== undefined) body['requestMetadata'] = metadataOf(metadata)
    addBetas(body, facts)
  },
}

/** Ids may be ARNs, which have `/`. The marks that encodeURIComponent leaves are encoded as the vendor's SDK does. */
function encodedModel(model: string): string {
  return encodeURIComponent(model).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** @throws {Untranslatable} */
function metadataOf(header: string): JsonObject {
  const json = parseJson(header)
  if (isRecord(json) && Object.values(json).every((value) => typeof value === 'string')) return json
  throw new Untranslatable(`the header ${METADATA} is not a JSON object with texts`)
}

function addBetas(body: JsonObject, { headers, model }: RequestFacts): void {
  if (traitsOf(model).family !== 'Claude') return
  const betas = betasIn(headers)
  if (betas.length === 0) return
  body['additionalModelRequestFields'] = { ...asObject(body['additionalModelRequestFields']), anthropic_beta: betas }
}

function betasIn(headers: HeaderList): readonly string[] {
  const names = (headers.get(BETA) ?? '').split(',').map((name) => name.trim())
  return [...new Set(names)].filter((name) => BETAS.has(name))
}
