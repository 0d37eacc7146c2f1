// Embeddings, rerank and token counts at providers with formats of their own: official clients through the gateway
// before an emulator that the SDKs of Google and AWS understand.
import Anthropic from '@anthropic-ai/sdk'
import { BedrockRuntimeClient, CountTokensCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { OAuth2Client } from 'google-auth-library'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Emulator, gatewayTo, sendEvents, sendJson, startEmulator } from './emulator.testing.ts'
import type { JsonObject } from './json.ts'

const GOOGLE = '/v1/projects/p/locations/global/publishers/google/models'
const RANK = '/v1/projects/p/locations/global/rankingConfigs/default_ranking_config:rank'
const VECTOR = [0.5, -0.25, 1]
const messages = [{ role: 'user' as const, content: 'hi' }]

let emulator: Emulator
let gateway: TestProxy
let headers: Readonly<Record<string, string>>

const prediction = (count: number): JsonObject => ({
  embeddings: { values: VECTOR, statistics: { token_count: count, truncated: false } },
})

/** By path: an answer in the form of the vendor's documentation. */
const ANSWERS: Readonly<Record<string, object>> = {
  [`${GOOGLE}/text-embedding-005:predict`]: { predictions: [prediction(2), prediction(3)], metadata: {} },
  [`${GOOGLE}/gemini-3-pro:countTokens`]: { totalTokens: 7, totalBillableCharacters: 2 },
  '/v1beta/models/gemini-3-pro:countTokens': { totalTokens: 8 },
  [RANK]: {
    records: [
      { id: '1', score: 0.9 },
      { id: '0', score: 0.1 },
    ],
  },
  '/model/amazon.titan-embed-text-v2%3A0/invoke': { embedding: VECTOR, inputTextTokenCount: 4 },
  '/model/cohere.embed-english-v3/invoke': {
    id: 'i',
    response_type: 'embeddings_floats',
    embeddings: [VECTOR, VECTOR],
    texts: ['a', 'b'],
  },
  '/model/cohere.embed-v4%3A0/invoke': { response_type: 'embeddings_by_type', embeddings: { float: [VECTOR] } },
  '/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke': {
    embeddings: [{ embeddingType: 'TEXT', embedding: VECTOR }],
  },
  '/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/count-tokens': { inputTokens: 9 },
  '/rerank': {
    results: [
      { index: 1, relevanceScore: 0.9 },
      { index: 0, relevanceScore: 0.1 },
    ],
  },
}

beforeAll(async () => {
  emulator = await startEmulator()
  const routes = {
    '/embeddings': 'Embeddings',
    '/rerank': 'Rerank',
    '/v1/messages/count_tokens': 'AnthropicTokenCount',
  } as const
  const policies = { ai: { routes }, auth: { key: { secret: 'n/key' } } }
  gateway = await gatewayTo(
    emulator,
    [
      { prefix: '/vertex', provider: { vertex: { projectId: 'p' } }, policies },
      { prefix: '/gemini', provider: { gemini: {} }, policies },
      {
        prefix: '/bedrock',
        provider: { bedrock: { region: 'eu-west-1', guardrail: { identifier: 'g', version: '1' } } },
        policies,
      },
    ],
    { 'n/key': 'planted' },
  )
})

beforeEach(() => {
  emulator.asked.length = 0
  headers = {}
  emulator.answer = ({ path }, response) => {
    const found = Object.hasOwn(ANSWERS, path) ? ANSWERS[path] : undefined
    if (found === undefined) return sendJson(response, { message: `no ${path}`, error: { message: `no ${path}` } }, 404)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    sendJson(response, found)
  }
})

afterAll(async () => {
  await gateway.stop()
  emulator.stop()
})

const openai = (prefix: string) =>
  new OpenAI({ apiKey: 'client', baseURL: `${gateway.url}${prefix}/v1`, maxRetries: 0 })
const anthropic = (prefix: string) => new Anthropic({ apiKey: 'client', baseURL: gateway.url + prefix, maxRetries: 0 })
const sent = () => emulator.asked.map(({ path, body }) => [path, body])
const post = (path: string, body: object): Promise<Response> =>
  fetch(gateway.url + path, { method: 'POST', body: JSON.stringify(body) })

describe('the emulator', () => {
  it('is understood by the SDK of Google', async () => {
    const authClient = new OAuth2Client()
    authClient.setCredentials({ access_token: 'planted', expiry_date: Date.now() + 3_600_000 })
    const { models } = new GoogleGenAI({
      vertexai: true,
      project: 'p',
      location: 'global',
      // The SDK has its own version of the library, so the types differ.
      googleAuthOptions: { authClient: authClient as never },
      httpOptions: { baseUrl: emulator.url, apiVersion: 'v1' },
    })
    const { embeddings } = await models.embedContent({ model: 'text-embedding-005', contents: ['a', 'b'] })
    expect(embeddings?.map(({ values, statistics }) => [values, statistics?.tokenCount])).toEqual([
      [VECTOR, 2],
      [VECTOR, 3],
    ])
    expect((await models.countTokens({ model: 'gemini-3-pro', contents: 'hi' })).totalTokens).toBe(7)
  })

  it('is understood by the SDK of AWS', async () => {
    const client = new BedrockRuntimeClient({
      endpoint: emulator.url,
      region: 'eu-west-1',
      credentials: { accessKeyId: 'k', secretAccessKey: 's' },
      // The default of the SDK is HTTP/2.
      requestHandler: new NodeHttpHandler(),
    })
    const input = { converse: { messages: [{ role: 'user' as const, content: [{ text: 'hi' }] }] } }
    const modelId = 'anthropic.claude-haiku-4-5-20251001-v1:0'
    expect((await client.send(new CountTokensCommand({ modelId, input }))).inputTokens).toBe(9)
    expect(sent()[0]?.[1]).toEqual({ input })
    client.destroy()
  })
})

describe('the SDK of OpenAI gets embeddings', () => {
  it('of Vertex AI, one instance for each text', async () => {
    const request = { model: 'text-embedding-005', input: ['a', 'b'], dimensions: 3 }
    const { data, usage, model } = await openai('/vertex').embeddings.create(request)
    expect(data.map(({ embedding, index }) => [embedding, index])).toEqual([
      [VECTOR, 0],
      [VECTOR, 1],
    ])
    expect([usage, model]).toEqual([{ prompt_tokens: 5, total_tokens: 5 }, 'text-embedding-005'])
    const instances = ['a', 'b'].map((content) => ({ content, task_type: 'RETRIEVAL_QUERY' }))
    expect(emulator.asked[0]?.body).toEqual({ instances, parameters: { outputDimensionality: 3 } })
  })

  it.each<[string, string | string[], JsonObject, number]>([
    ['amazon.titan-embed-text-v2:0', 'a', { inputText: 'a', dimensions: 256 }, 4],
    [
      'amazon.nova-2-multimodal-embeddings-v1:0',
      ['a'],
      {
        schemaVersion: 'nova-multimodal-embed-v1',
        taskType: 'SINGLE_EMBEDDING',
        singleEmbeddingParams: {
          embeddingPurpose: 'GENERIC_INDEX',
          embeddingDimension: 256,
          text: { truncationMode: 'NONE', value: 'a' },
        },
      },
      0,
    ],
    ['cohere.embed-v4:0', 'a', { texts: ['a'], input_type: 'search_query', output_dimension: 256 }, 0],
  ])('of Bedrock: %s', async (model, input, body, tokens) => {
    const { data, usage } = await openai('/bedrock').embeddings.create({ model, input, dimensions: 256 })
    expect([data[0]?.embedding, usage.prompt_tokens]).toEqual([VECTOR, tokens])
    expect(emulator.asked[0]?.body).toEqual(body)
  })

  it('of Cohere on Bedrock for several texts, with tokens of the header', async () => {
    headers = { 'x-amzn-bedrock-input-token-count': '11' }
    const request = { model: 'cohere.embed-english-v3', input: ['a', 'b'], encoding_format: 'float' as const }
    const { data, usage } = await openai('/bedrock').embeddings.create(request)
    expect([data.length, usage]).toEqual([2, { prompt_tokens: 11, total_tokens: 11 }])
  })
})

it('embeddings are encoded as the client asks', async () => {
  const ask = async (encoding_format: string): Promise<unknown> => {
    const body = { model: 'text-embedding-005', input: ['a', 'b'], encoding_format }
    const { data } = (await (await post('/vertex/v1/embeddings', body)).json()) as { data: { embedding: unknown }[] }
    return data[0]?.embedding
  }
  expect(await ask('float')).toEqual(VECTOR)
  const bytes = Buffer.from(String(await ask('base64')), 'base64')
  expect(VECTOR.map((_, index) => bytes.readFloatLE(4 * index))).toEqual(VECTOR)
})

describe('a request for embeddings is rejected', () => {
  it.each<[string, object, string]>([
    ['/vertex', { model: 'text-embedding-005', input: [[1, 2]] }, 'input must be a text or a list of texts'],
    ['/vertex', { model: 'text-embedding-005', input: [] }, 'input must be a text or a list of texts'],
    ['/vertex', { model: 'text-embedding-005', input: 'a', other: 1 }, 'is not supported by this provider'],
    ['/vertex', { model: 'text-embedding-005', input: 'a', stream: true }, 'stream true is not supported'],
    ['/bedrock', { model: 'amazon.titan-embed-text-v2:0', input: ['a', 'b'] }, 'input must be a single text'],
    ['/bedrock', { model: 'cohere.embed-english-v3', input: 'a', dimensions: 9 }, 'dimensions 9 is not supported'],
    ['/bedrock', { model: 'anthropic.claude-x', input: 'a' }, 'unsupported conversion: from Embeddings'],
  ])('%s %o', async (prefix, body, message) => {
    const reply = await post(`${prefix}/v1/embeddings`, body)
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(message)])
    expect(emulator.asked).toEqual([])
  })
})

describe('rerank', () => {
  const request = { query: 'q', documents: ['a', { text: 'b' }] }
  const results = [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ]

  it('of Vertex AI names documents by their place', async () => {
    const reply = await post('/vertex/v1/rerank', { model: 'semantic-ranker-default-004', ...request, top_n: 2 })
    expect(await reply.json()).toEqual({ results })
    expect(sent()).toEqual([
      [
        RANK,
        {
          model: 'semantic-ranker-default-004',
          query: 'q',
          records: [
            { id: '0', content: 'a' },
            { id: '1', content: 'b' },
          ],
          topN: 2,
          ignoreRecordDetailsInResponse: true,
        },
      ],
    ])
  })

  it('of Bedrock names the model by its ARN', async () => {
    const documents = ['a', { title: 't', text: 'b' }]
    const reply = await post('/bedrock/v1/rerank', {
      model: 'cohere.rerank-v3-5:0',
      query: 'q',
      documents,
      return_documents: true,
    })
    expect(await reply.json()).toEqual({
      results: [
        { ...results[0], document: documents[1] },
        { ...results[1], document: { text: 'a' } },
      ],
    })
    expect(emulator.asked[0]?.body).toEqual({
      queries: [{ type: 'TEXT', textQuery: { text: 'q' } }],
      sources: [
        { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text: 'a' } } },
        { type: 'INLINE', inlineDocumentSource: { type: 'JSON', jsonDocument: documents[1] } },
      ],
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: { modelArn: 'arn:aws:bedrock:eu-west-1::foundation-model/cohere.rerank-v3-5:0' },
          numberOfResults: 2,
        },
      },
    })
  })

  it.each<[string, object]>([
    ['query must be a text', { documents: ['a'] }],
    ['documents must be a list', { query: 'q', documents: [] }],
    ['documents[0] must be a text', { query: 'q', documents: [{ a: 1 }] }],
  ])('is rejected: %s', async (message, body) => {
    const reply = await post('/vertex/v1/rerank', { model: 'm', ...body })
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(message)])
  })

  it('that names a document which was not sent is a bad answer', async () => {
    emulator.answer = (_, response) => sendJson(response, { records: [{ id: '2', score: 1 }] })
    expect((await post('/vertex/v1/rerank', { model: 'm', ...request })).status).toBe(502)
  })
})

describe('the SDK of Anthropic counts tokens', () => {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]

  it.each<[string, string, string, number, JsonObject]>([
    ['/vertex', 'gemini-3-pro', `${GOOGLE}/gemini-3-pro:countTokens`, 7, { contents }],
    ['/gemini', 'gemini-3-pro', '/v1beta/models/gemini-3-pro:countTokens', 8, { contents }],
    [
      '/bedrock',
      'eu.anthropic.claude-haiku-4-5-20251001-v1:0',
      '/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/count-tokens',
      9,
      { input: { converse: { messages: [{ role: 'user', content: [{ text: 'hi' }] }] } } },
    ],
  ])('at %s', async (prefix, model, path, count, body) => {
    expect(await anthropic(prefix).messages.countTokens({ model, messages })).toEqual({ input_tokens: count })
    expect(sent()).toEqual([[path, body]])
  })
})

it('a token count of Gemini with more than contents has the whole request in it', async () => {
  const tools = [{ name: 'n', input_schema: { type: 'object' as const } }]
  const request = { model: 'gemini-3-pro', system: 'be kind', messages, tools }
  expect(await anthropic('/gemini').messages.countTokens(request)).toEqual({ input_tokens: 8 })
  expect(emulator.asked[0]?.body).toMatchObject({
    generateContentRequest: {
      model: 'models/gemini-3-pro',
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      systemInstruction: { parts: [{ text: 'be kind' }] },
      tools: [{ functionDeclarations: [{ name: 'n' }] }],
    },
  })
})

describe('a failure of the provider', () => {
  it('has the form of the client', async () => {
    emulator.answer = (_, response) =>
      sendJson(response, { message: 'slow down', error: { message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }, 429)
    const embeddings = openai('/vertex').embeddings.create({ model: 'm', input: 'a' })
    await expect(embeddings).rejects.toMatchObject({ status: 429, type: 'rate_limit_error' })
    const count = anthropic('/bedrock').messages.countTokens({ model: 'anthropic.claude-x', messages })
    await expect(count).rejects.toMatchObject({ status: 429, error: { error: { type: 'rate_limit_error' } } })
  })

  it('is reported where the answer has no vectors, or is a stream', async () => {
    emulator.answer = (_, response) => sendJson(response, { predictions: [{ embeddings: { values: ['a'] } }] })
    expect((await post('/vertex/v1/embeddings', { model: 'm', input: 'a' })).status).toBe(502)
    emulator.answer = (_, response) => sendEvents(response, ['data: {}\n\n'])
    const reply = await post('/vertex/v1/embeddings', { model: 'm', input: 'a' })
    expect(await reply.text()).toContain('the provider returned a stream in place of a response')
  })
})
