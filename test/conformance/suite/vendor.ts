// The model server of the quickstart, with the other formats of providers as their public references describe them, and
// all formats at other paths too. One token is one word, and responses depend only on the request.
import { createServer, type Server, type ServerResponse } from 'node:http'
import { isRecord, parseJson } from '#api/json.ts'
import { modelServer } from '../../../hack/quickstart/model.ts'

type Json = Readonly<Record<string, unknown>>

/** Paths that no client uses by default. */
export const VENDOR = {
  Completions: '/vendor/chat',
  Messages: '/vendor/say',
  Responses: '/vendor/respond',
  Embeddings: '/vendor/embed',
  AnthropicTokenCount: '/vendor/count',
  Rerank: '/vendor/rank',
} as const

/** Paths of a server in the format of Google, which has the model in the path. */
export const GOOGLE_VENDOR = { GenerateContent: '/vendor/google', GeminiCountTokens: '/vendor/google-count' } as const

/** Of Azure: a resource, a deployment of it, and Claude in Azure AI Foundry. */
export const AZURE = {
  resource: '/openai/v1/chat/completions',
  deployment: '/openai/deployments/demo-azure/chat/completions?api-version=2024-10-21',
  claude: '/anthropic/v1/messages',
} as const

const VERTEX_PUBLISHERS = '/v1/projects/demo/locations/europe-west4/publishers'
export const VERTEX = {
  claude: `${VERTEX_PUBLISHERS}/anthropic/models/claude-demo@20260101:rawPredict`,
  claudeStream: `${VERTEX_PUBLISHERS}/anthropic/models/claude-demo@20260101:streamRawPredict`,
  gemini: `${VERTEX_PUBLISHERS}/google/models/gemini-demo:generateContent`,
} as const

/** The paths of the formats in the other server. */
const SERVED_BY_MODEL: ReadonlyMap<string, string> = new Map([
  [AZURE.resource, '/v1/chat/completions'],
  [AZURE.deployment, '/v1/chat/completions'],
  [AZURE.claude, '/v1/messages'],
  [VERTEX.claude, '/v1/messages'],
  [VERTEX.claudeStream, '/v1/messages'],
  [VENDOR.Completions, '/v1/chat/completions'],
  [VENDOR.Messages, '/v1/messages'],
])

const ANSWERS: ReadonlyMap<string, (body: Json) => object | undefined> = new Map([
  [VENDOR.Responses, responses],
  [VENDOR.Embeddings, embeddings],
  [VENDOR.AnthropicTokenCount, tokenCount],
  [VENDOR.Rerank, rerank],
  [VERTEX.gemini, generateContent],
  [`${GOOGLE_VENDOR.GenerateContent}/models/demo-vendor:generateContent`, generateContent],
  [`${GOOGLE_VENDOR.GeminiCountTokens}/models/demo-vendor:countTokens`, () => ({ totalTokens: 2 })],
])

export function vendorServer(): Server {
  const model = modelServer()
  return createServer((request, response) => {
    const { url = '' } = request
    const answer = ANSWERS.get(url)
    if (answer === undefined) {
      const known = SERVED_BY_MODEL.get(url)
      if (known !== undefined) {
        request.url = known
        // Other servers accept bearer tokens for messages too, and Azure has a field of its own for keys.
        const { authorization, 'api-key': key } = request.headers
        const ofKey = typeof key === 'string' && { authorization: key }
        request.headers = { 'x-api-key': authorization, ...ofKey, ...request.headers }
      }
      model.emit('request', request, response)
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = parseJson(Buffer.concat(chunks).toString('utf8'))
      const answered = isRecord(body) ? answer(body) : undefined
      if (answered === undefined) send(response, 400, { error: { message: `not a request of ${url}` } })
      else send(response, 200, answered)
    })
  })
}

function responses({ model, input }: Json): object | undefined {
  if (typeof model !== 'string' || typeof input !== 'string') return undefined
  const text = `You said: ${input}`
  return {
    id: 'resp_demo',
    object: 'response',
    created_at: 1_767_225_600,
    status: 'completed',
    model,
    output: [
      {
        type: 'message',
        id: 'msg_demo',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: words(input), output_tokens: words(text), total_tokens: words(input) + words(text) },
  }
}

/** The length of each text, as numbers or as base64 of 32-bit floats, which SDKs request. */
function embeddings({ model, input, encoding_format: encoding }: Json): object | undefined {
  const texts: unknown[] = Array.isArray(input) ? input : [input]
  if (typeof model !== 'string' || !texts.every((text) => typeof text === 'string')) return undefined
  const tokens = texts.map(words).reduce((a, b) => a + b, 0)
  const data = texts.map(({ length }, index) => {
    const floats = Float32Array.of(length)
    const embedding = encoding === 'base64' ? Buffer.from(floats.buffer).toString('base64') : [...floats]
    return { object: 'embedding', index, embedding }
  })
  return { object: 'list', model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

function tokenCount({ model, messages }: Json): object | undefined {
  if (typeof model !== 'string' || !Array.isArray(messages)) return undefined
  return {
    input_tokens: words(messages.map((one: unknown) => (isRecord(one) ? String(one['content']) : '')).join(' ')),
  }
}

/** The longest first. */
function rerank({ model, query, documents }: Json): object | undefined {
  if (typeof model !== 'string' || typeof query !== 'string' || !Array.isArray(documents)) return undefined
  const results = documents.map((document, index) => ({ index, relevance_score: 1 - 1 / String(document).length }))
  return { id: 'rank_demo', results: results.sort((a, b) => b.relevance_score - a.relevance_score) }
}

function generateContent({ contents }: Json): object | undefined {
  if (!Array.isArray(contents)) return undefined
  const [content]: unknown[] = contents
  const parts = isRecord(content) && Array.isArray(content['parts']) ? content['parts'] : []
  const [part]: unknown[] = parts
  const text = `You said: ${isRecord(part) ? String(part['text']) : ''}`
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: words(text), totalTokenCount: 2 + words(text) },
    modelVersion: 'demo-vendor',
    responseId: 'gen_demo',
  }
}

function words(text: string): number {
  return text.split(' ').length
}

function send(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(json))
}
