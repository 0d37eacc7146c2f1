// Clients of all vendors through the gateway to Amazon Bedrock. The SDK of AWS reads the same answers.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { type Verified, verifySignature } from '../credentials/cloud-a/verifier.testing.ts'
import { asObject, parseObject, type JsonObject } from './json.ts'
import { CLIENT_ROUTES, clientRequest } from './translate/client-requests.testing.ts'
import { CLIENTS } from './translate/clients.testing.ts'
import { converseAnswer, converseException, converseStream } from './translate/converse.testing.ts'
import { SCENARIOS, type VendorName } from './translate/vendors.testing.ts'

const MODEL = 'arn:aws:bedrock:us-west-2:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const SECRET = 'planted-secret'
const PATH = `/model/${encodeURIComponent(MODEL)}/converse`
interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
  /** As received, for its signature. */
  readonly bytes: Buffer
}

let upstream: Server
let gateway: TestProxy
let vendor: BedrockRuntimeClient
let answer: (response: ServerResponse) => void
let asked: Asked | undefined

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const body = parseObject(bytes.toString('utf8')) ?? {}
      asked = { path: request.url ?? '', headers: request.headers, body, bytes }
      answer(response)
    })
  })
  const host = { host: '127.0.0.1', port: await listening(upstream) }
  vendor = new BedrockRuntimeClient({
    endpoint: `http://${host.host}:${host.port}`,
    region: 'us-west-2',
    credentials: { accessKeyId: 'k', secretAccessKey: 's' },
    maxAttempts: 1,
    // The default of the SDK is HTTP/2.
    requestHandler: new NodeHttpHandler(),
  })
  const guardrail = { identifier: 'g1', version: '2' }
  const provider = { bedrock: { region: 'us-west-2', model: MODEL, guardrail } }
  const keys = { accessKey: { secret: 'n/k/id' }, secretKey: { secret: 'n/k/key' } }
  gateway = await testProxy({
    secrets: { 'n/k/id': 'AKIATEST', 'n/k/key': SECRET },
    routes: [
      {
        name: 'bedrock',
        prefix: '/',
        backend: {
          ai: { groups: [{ providers: [{ name: 'p', provider, hostOverride: host }] }] },
          inlinePolicies: {
            ai: { routes: CLIENT_ROUTES },
            auth: { cloudA: { secretRef: keys } },
          },
        },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  vendor.destroy()
  closeServer(upstream)
})

const sendJson =
  (json: object, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-requestid': 'req-7' })
    response.end(JSON.stringify(json))
  }

const sendStream =
  (frames: readonly Buffer[], ends = true) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'req-7' })
    for (const frame of frames) response.write(frame)
    if (ends) response.end()
    else setImmediate(() => response.destroy())
  }

interface Asking {
  readonly isStreaming?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (from: VendorName, { isStreaming = false, headers = {} }: Asking = {}): Promise<Response> => {
  const { path, body } = clientRequest(from, {}, isStreaming)
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'planted-client-key', ...headers },
    body,
  })
}

/** Of the last request: its path, header fields and body as the provider got them. */
function signed(): Verified {
  const { path: target = '', headers = {}, bytes: body = Buffer.alloc(0) } = asked ?? {}
  const fields = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return verifySignature({ method: 'POST', target, headers: fields, body }, () => SECRET)
}

const NAMES: readonly VendorName[] = ['Completions', 'Messages', 'Responses', 'GenerateContent']

describe.each(NAMES)('a client of %s', (from) => {
  const client = CLIENTS[from]
  const streaming = { isStreaming: true }

  it.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
    answer = sendJson(converseAnswer(scenario))
    const seen = await client.read(await ask(from), false)
    expect(seen).toMatchObject({ text: scenario.text ?? '', stop: client.stops[scenario.stop] })
    expect(seen.calls.map(({ name }) => name)).toEqual((scenario.calls ?? []).map(({ name }) => name))
    expect(seen.input).toBe(scenario.usage.input)
    expect(asked?.path).toBe(PATH)
    answer = sendStream(converseStream(scenario))
    const reply = await ask(from, streaming)
    client.grammar(await reply.clone().text())
    expect(await client.read(reply, true)).toEqual(seen)
    expect(asked?.path).toBe(`${PATH}-stream`)
    expect(signed()).toMatchObject({ region: 'us-west-2', service: 'bedrock' })
  })

  it('gets id and model, which the provider does not send in the body', async () => {
    answer = sendJson(converseAnswer({ text: 'x', stop: 'stop', usage: { input: 1, cached: 0, output: 1 } }))
    const body = asObject(await (await ask(from)).json())
    expect(body['id'] ?? body['responseId']).toMatch(/^(?:resp_)?req-7$/)
    expect(body['model'] ?? body['modelVersion']).toBe(MODEL)
  })

  it('an error before the answer keeps its status', async () => {
    answer = sendJson({ message: 'too busy' }, 429)
    const reading = ask(from).then((reply) => client.read(reply, false))
    await expect(reading).rejects.toMatchObject({ status: 429, message: expect.stringContaining('too busy') as string })
  })

  it('an error within a stream, a malformed frame and a stream that breaks reach the client', async () => {
    const frames = converseStream({ text: 'hello', stop: 'stop', usage: { input: 1, cached: 0, output: 1 } })
    answer = sendStream([...frames.slice(0, 2), converseException('throttlingException', 'too busy')])
    await expect(client.read(await ask(from, streaming), true)).rejects.toThrow('too busy')
    answer = sendStream([...frames.slice(0, 2), Buffer.alloc(16, 1)])
    await expect(client.read(await ask(from, streaming), true)).rejects.toThrow('ended early')
    answer = sendStream(frames.slice(0, 2), false)
    await expect(client.read(await ask(from, streaming), true)).rejects.toThrow('ended early')
  })
})

describe('the request', () => {
  const text = converseAnswer({ text: 'x', stop: 'stop', usage: { input: 1, cached: 0, output: 1 } })

  it('is signed for the region of the provider, and has guardrail, metadata and the betas that Bedrock has', async () => {
    answer = sendJson(text)
    const headers = {
      'anthropic-beta': 'context-1m-2025-08-07, other-2020-01-01',
      'x-bedrock-metadata': '{"team":"a"}',
    }
    await ask('Messages', { headers })
    expect(signed()).toMatchObject({ accessKeyId: 'AKIATEST', region: 'us-west-2', service: 'bedrock' })
    for (const name of ['x-api-key', 'anthropic-beta', 'x-bedrock-metadata', 'accept']) {
      expect(asked?.headers).not.toHaveProperty(name)
    }
    expect(asked?.body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 9 },
      guardrailConfig: { guardrailIdentifier: 'g1', guardrailVersion: '2', trace: 'enabled' },
      requestMetadata: { team: 'a' },
      additionalModelRequestFields: { anthropic_beta: ['context-1m-2025-08-07'] },
    })
  })

  it.each(['{', '[]', '{"a":1}'])('is rejected with the metadata %s', async (metadata) => {
    const reply = await ask('Completions', { headers: { 'x-bedrock-metadata': metadata } })
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('x-bedrock-metadata')])
  })
})

function textOf(content: readonly ContentBlock[] = []): string {
  return content.map(({ text }) => text ?? '').join('')
}

describe('the emulator', () => {
  const input = { modelId: MODEL, messages: [{ role: 'user' as const, content: [{ text: 'hi' }] }] }

  it.each(Object.entries(SCENARIOS))('answers the SDK of AWS: %s', async (_, scenario) => {
    answer = sendJson(converseAnswer(scenario))
    const { output, stopReason } = await vendor.send(new ConverseCommand(input))
    expect(asked?.path).toBe(PATH)
    expect(textOf(output?.message?.content)).toBe(scenario.text ?? '')
    answer = sendStream(converseStream(scenario))
    const { stream } = await vendor.send(new ConverseStreamCommand(input))
    const events: ConverseStreamOutput[] = []
    for await (const event of stream ?? []) events.push(event)
    const text = events.map(({ contentBlockDelta: one }) => one?.delta?.text ?? '').join('')
    const names = events.flatMap(({ contentBlockStart: one }) => one?.start?.toolUse?.name ?? [])
    const end = events.find(({ messageStop }) => messageStop !== undefined)?.messageStop?.stopReason
    expect([text, names, end]).toEqual([
      scenario.text ?? '',
      (scenario.calls ?? []).map(({ name }) => name),
      stopReason,
    ])
  })

  it('sends the exceptions of the SDK', async () => {
    answer = sendStream([converseException('throttlingException', 'too busy')])
    const read = async (): Promise<void> => {
      const { stream } = await vendor.send(new ConverseStreamCommand(input))
      for await (const _ of stream ?? []);
    }
    await expect(read()).rejects.toMatchObject({ name: 'ThrottlingException', message: 'too busy' })
  })
})
