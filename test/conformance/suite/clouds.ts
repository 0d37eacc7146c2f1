// The hosts of model providers that need an account, on loopback: a proxy that opens connections by CONNECT leads to
// them, over TLS. They answer at the paths of the vendors' public documentation, to the right credential.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { verifySignature } from '#proxy/credentials/cloud-a/verifier.testing.ts'
import { parseObject, type JsonObject } from '#proxy/llm/json.ts'
import { converseAnswer, converseStream } from '#proxy/llm/translate/converse.testing.ts'
import { type Scenario, VENDORS } from '#proxy/llm/translate/vendors.testing.ts'
import { authority, certificateFor } from '#test/certificates.ts'
import { closeServer, listening } from '#test/ports.ts'

const HELLO: Scenario = { text: 'Hello!', stop: 'stop', usage: { input: 9, cached: 0, output: 2 } }

const AZURE_TOKEN = 'token-of-azure'
const GOOGLE_TOKEN = 'token-of-google'
const KEY = 'your-key'
const GOOGLE_KEY = 'AIza-your-key'
const AWS = { id: 'your-id', secret: 'your-secret' }

interface CloudRequest {
  readonly host: string
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
  readonly bytes: Buffer
}

export interface Clouds {
  /** Of the proxy that leads to them. */
  readonly tunnelPort: number
  /** For a process that calls them with the credentials of its environment. */
  readonly environment: Readonly<Record<string, string>>
  /** PEM. */
  readonly authorities: string
  /** `host/path` of the requests that were answered with 200. */
  readonly served: string[]
  stop(): void
}

type Reply = (response: ServerResponse, request: CloudRequest) => void

const json =
  (body: object) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }

const stream =
  (frames: readonly (string | Buffer)[], type = 'text/event-stream'): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': type })
    for (const frame of frames) response.write(frame)
    response.end()
  }

const chat =
  (format: 'Completions' | 'Messages'): Reply =>
  (response, request) => {
    const reply =
      request.body['stream'] === true ? stream(VENDORS[format].stream(HELLO)) : json(VENDORS[format].whole(HELLO))
    reply(response, request)
  }

type Check = (request: CloudRequest) => boolean

const isAzure: Check = ({ headers }) =>
  [headers['api-key'], headers['x-api-key']].includes(KEY) || headers.authorization === `Bearer ${AZURE_TOKEN}`
const isGoogle: Check = ({ headers }) => headers.authorization === `Bearer ${GOOGLE_TOKEN}`
const isGemini: Check = ({ headers }) => headers['x-goog-api-key'] === GOOGLE_KEY

const isSigned: Check = ({ method, path, headers, bytes }) => {
  const single = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const { accessKeyId, region, service } = verifySignature(
    { method, target: path, headers: single, body: bytes },
    () => AWS.secret,
  )
  return accessKeyId === AWS.id && region === 'eu-central-1' && service === 'bedrock'
}

const VERTEX = 'europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers'
const BEDROCK = 'bedrock-runtime.eu-central-1.amazonaws.com/model'
const CLAUDE = encodeURIComponent('eu.anthropic.claude-sonnet-4-5-20250929-v1:0')
const GEMINI = 'generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash'
const FOUNDRY = 'my-resource.services.ai.azure.com'

const PLACES: Readonly<Record<string, readonly [Check, Reply]>> = {
  'my-resource.openai.azure.com/openai/v1/chat/completions': [isAzure, chat('Completions')],
  [`${FOUNDRY}/api/projects/my-project/openai/v1/chat/completions`]: [isAzure, chat('Completions')],
  [`${FOUNDRY}/anthropic/v1/messages`]: [isAzure, chat('Messages')],
  [`${FOUNDRY}/anthropic/v1/messages/count_tokens`]: [isAzure, json({ input_tokens: 9 })],
  [`${BEDROCK}/${CLAUDE}/converse`]: [isSigned, json(converseAnswer(HELLO))],
  [`${BEDROCK}/${CLAUDE}/converse-stream`]: [
    isSigned,
    stream(converseStream(HELLO), 'application/vnd.amazon.eventstream'),
  ],
  [`${BEDROCK}/${encodeURIComponent('amazon.titan-embed-text-v2:0')}/invoke`]: [
    isSigned,
    json({ embedding: [0.5, 0.25], inputTextTokenCount: 1 }),
  ],
  [`${VERTEX}/google/models/gemini-2.5-flash:generateContent`]: [isGoogle, json(VENDORS.GenerateContent.whole(HELLO))],
  [`${VERTEX}/anthropic/models/claude-sonnet-4-5:rawPredict`]: [isGoogle, chat('Messages')],
  [`${VERTEX}/anthropic/models/claude-sonnet-4-5:streamRawPredict`]: [isGoogle, chat('Messages')],
  'aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/google/models/gemini-2.5-flash:generateContent':
    [isGoogle, json(VENDORS.GenerateContent.whole(HELLO))],
  [`${GEMINI}:generateContent`]: [isGemini, json(VENDORS.GenerateContent.whole(HELLO))],
  [`${GEMINI}:countTokens`]: [isGemini, json({ totalTokens: 3 })],
}

const NAMES = ['*.openai.azure.com', '*.services.ai.azure.com', '*.eu-central-1.amazonaws.com', '*.googleapis.com']

export async function startClouds(): Promise<Clouds> {
  const issuer = authority('Clouds')
  const { certificate, privateKey } = certificateFor({
    commonName: 'clouds',
    names: NAMES.map((name) => `DNS:${name}`),
    issuer,
  })
  const secureContext = createSecureContext({ cert: certificate, key: privateKey })
  const served: string[] = []
  const hosts = createServer((request, response) => {
    receive(request, (received) => answer(received, response, served))
  })
  const tunnel = createServer()
  tunnel.on('connect', ({ url = '' }, client) => {
    client.on('error', () => undefined)
    if (!(client instanceof Socket) || !url.endsWith(':443')) {
      client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      return
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    // The server itself listens nowhere: each connection comes out of the tunnel.
    hosts.emit('connection', new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] }))
  })
  const metadata = createServer(tokens)
  const metadataPort = await listening(metadata)
  return {
    tunnelPort: await listening(tunnel),
    authorities: issuer.certificate,
    served,
    environment: {
      AWS_ACCESS_KEY_ID: AWS.id,
      AWS_SECRET_ACCESS_KEY: AWS.secret,
      AZURE_KEY: KEY,
      GEMINI_API_KEY: GOOGLE_KEY,
      GCE_METADATA_HOST: `127.0.0.1:${metadataPort}`,
      METADATA_SERVER_DETECTION: 'assume-present',
      IDENTITY_ENDPOINT: `http://127.0.0.1:${metadataPort}/identity`,
      IDENTITY_HEADER: 'of-the-machine',
    },
    stop() {
      closeServer(tunnel)
      closeServer(metadata)
      hosts.closeAllConnections()
    },
  }
}

function receive(request: IncomingMessage, done: (received: CloudRequest) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const bytes = Buffer.concat(chunks)
    const { url: path = '', method = '', headers } = request
    done({ host: headers.host ?? '', path, method, headers, body: parseObject(bytes.toString('utf8')) ?? {}, bytes })
  })
}

function answer(request: CloudRequest, response: ServerResponse, served: string[]): void {
  const place = request.host + request.path
  const [check, reply] = PLACES[place] ?? []
  if (check === undefined || reply === undefined) refuse(response, 404, `nothing at ${place}`)
  else if (check(request)) {
    served.push(place)
    reply(response, request)
  } else refuse(response, 401, `no credential for ${place}`)
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ message, error: { message } }))
}

/** The metadata servers of Google and of Azure. */
function tokens({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const isOfAzure = url.startsWith('/identity?') && headers['x-identity-header'] === 'of-the-machine'
  const expires = { expires_in: 3600, expires_on: Math.trunc(Date.now() / 1000) + 3600, token_type: 'Bearer' }
  if (isOfAzure) {
    json({ access_token: AZURE_TOKEN, resource: 'r', ...expires })(response)
    return
  }
  response.setHeader('metadata-flavor', 'Google')
  if (url.includes('/service-accounts/default/token')) {
    json({ access_token: GOOGLE_TOKEN, ...expires })(response)
  } else response.end('default')
}
