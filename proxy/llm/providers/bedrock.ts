// Amazon Bedrock: the Converse API, signed for AWS (data-plane supplement sections 3.3 and 3.9).
import type { BedrockProvider } from '#api/ir/types.gen.ts'
import { isRecord, parseJson } from '#api/json.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import { percentEncoded } from '#api/percent-encoding.ts'
import { bedrockRegion } from '../../backend/provider-address.ts'
import type { HeaderList } from '../../message/headers.ts'
import { addCachePoints } from '../formats/converse/prompt-caching.ts'
import { traitsOf } from '../traits/table.ts'
import { asObject, asString, type JsonObject } from '../json.ts'
import { Untranslatable } from '../translate/untranslatable.ts'
import type { Provider, RequestFacts } from './provider.ts'

const OF_EVERY_MODEL = ['Converse', 'BedrockRerank'] as const
const CLAUDE: ReadonlySet<SentFormatName> = new Set([...OF_EVERY_MODEL, 'BedrockCountTokens'])
const NOVA: ReadonlySet<SentFormatName> = new Set([...OF_EVERY_MODEL, 'NovaEmbeddings'])
const COHERE: ReadonlySet<SentFormatName> = new Set([...OF_EVERY_MODEL, 'CohereEmbeddings'])
const OTHER: ReadonlySet<SentFormatName> = new Set([...OF_EVERY_MODEL, 'TitanEmbeddings'])

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
  formats: () => formatsOf,
  paths(_, prefix = '') {
    const base = prefix.replace(/\/+$/, '')
    return ({ name, path }, model, isStreaming) => {
      if (name === 'BedrockRerank') return base + path
      // Profiles for several regions have no counts: the model counts.
      const counted = name === 'BedrockCountTokens' ? model.replace(/^[a-z]{2,6}\.(?=anthropic\.)/, '') : model
      const end = isStreaming && name === 'Converse' ? '-stream' : ''
      return `${base}/model/${percentEncoded(counted)}${path}${end}`
    }
  },
  keepsClientPath: false,
  signingRegion: bedrockRegion,
  prepareHeaders(headers, credential) {
    for (const name of REMOVED) headers.remove(name)
    // The key of a client of Anthropic; the signature needs none.
    if (credential === 'Key') headers.remove('x-api-key')
  },
  finish(body, settings, facts) {
    if (facts.sent === 'BedrockRerank') nameRerankModel(body, bedrockRegion(settings))
    if (facts.sent !== 'Converse') return
    const { guardrail } = settings
    if (guardrail !== undefined) {
      const { identifier, version } = guardrail
      body['guardrailConfig'] = { guardrailIdentifier: identifier, guardrailVersion: version, trace: 'enabled' }
    }
    const metadata = facts.headers.get(METADATA)
    if (metadata !== undefined) body['requestMetadata'] = metadataOf(metadata)
    addBetas(body, facts)
    if (facts.promptCaching !== undefined) addCachePoints(body, facts.promptCaching, facts.model)
  },
}

function formatsOf(model: string): ReadonlySet<SentFormatName> {
  if (model.includes('anthropic.claude')) return CLAUDE
  if (model.includes('nova')) return NOVA
  return model.includes('cohere') ? COHERE : OTHER
}

/** Rerank names the model by its ARN. */
function nameRerankModel(body: JsonObject, region: string): void {
  const configuration = asObject(body['rerankingConfiguration'])
  const ofBedrock = asObject(configuration['bedrockRerankingConfiguration'])
  const model = asString(asObject(ofBedrock['modelConfiguration'])['modelArn']) ?? ''
  const modelArn = model.startsWith('arn:') ? model : `arn:aws:bedrock:${region}::foundation-model/${model}`
  const bedrockRerankingConfiguration = { ...ofBedrock, modelConfiguration: { modelArn } }
  body['rerankingConfiguration'] = { ...configuration, bedrockRerankingConfiguration }
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
