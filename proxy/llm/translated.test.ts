// The SDKs of the vendors as clients of the gateway, before providers of other formats.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { framesOf } from './translate/client.testing.ts'
import { CLIENTS } from './translate/clients.testing.ts'
import { CLIENT_ROUTES, clientRequest } from './translate/client-requests.testing.ts'
import { SCENARIOS, VENDORS, type ChatName, type VendorName } from './translate/vendors.testing.ts'

let upstream: Server
let gateway: TestProxy
let answer: (response: ServerResponse) => void
let asked: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string } | undefined

const PATHS: { readonly [N in ChatName]: string } = {
  Completions: '/v1/chat/completions',
  Messages: '/v1/messages',
  Responses: '/v1/responses',
}

/** A provider with only this format. */
const route = (type: ChatName, host: { readonly host: string; readonly port: number }) => ({
  name: type.toLowerCase(),
  prefix: `/${type}`,
  backend: {
    ai: {
      groups: [{ providers: [{ name: 'p', provider: { custom: { formats: [{ type }] } }, hostOverride: host }] }],
    },
    inlinePolicies: { ai: { routes: CLIENT_ROUTES } },
  },
})

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }
      answer(response)
    })
  })
  const host = { host: '127.0.0.1', port: await listening(upstream) }
  gateway = await testProxy({ routes: Object.keys(PATHS).map((type) => route(type as ChatName, host)) })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

interface Asking {
  readonly isStreaming?: boolean
  readonly fields?: object
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (
  from: VendorName,
  to: ChatName,
  { isStreaming = false, fields = {}, headers = {} }: Asking = {},
): Promise<Response> => {
  const { path, body } = clientRequest(from, fields, isStreaming)
  return fetch(`${gateway.url}/${to}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
}

const sendJson =
  (json: object, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(json))
  }

const sendStream =
  (frames: readonly string[], ends = true) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const frame of frames) response.write(frame)
    if (ends) response.end()
    else setImmediate(() => response.destroy())
  }

/** Cut at a place that is in the middle of an event. */
const sendCompressed = (frames: readonly string[]) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
  const bytes = gzipSync(frames.join(''))
  response.write(bytes.subarray(0, 100))
  response.end(bytes.subarray(100))
}

const KEYS: { readonly [N in VendorName]: Readonly<Record<string, string>> } = {
  Completions: { authorization: 'Bearer k' },
  Messages: { 'x-api-key': 'k', 'anthropic-version': 'v' },
  Responses: { authorization: 'Bearer k' },
  GenerateContent: { 'x-goog-api-key': 'k', 'x-goog-api-client': 'google-genai-sdk/3' },
}

describe.each([
  ['Completions', 'Messages'],
  ['Messages', 'Completions'],
  ['Messages', 'Responses'],
  ['Responses', 'Completions'],
  ['Responses', 'Messages'],
  ['GenerateContent', 'Completions'],
  ['GenerateContent', 'Messages'],
  ['GenerateContent', 'Responses'],
] as const)('a client of %s and a provider of %s', (from, to) => {
  const client = CLIENTS[from]
  const vendor = VENDORS[to]
  const streaming = { isStreaming: true }

  it.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
    answer = sendJson(vendor.whole(scenario))
    const seen = await client.read(await ask(from, to), false)
    expect(seen).toMatchObject({ text: scenario.text ?? '', stop: client.stops[scenario.stop] })
    expect(seen.calls.map(({ name }) => name)).toEqual((scenario.calls ?? []).map(({ name }) => name))
    expect(asked?.path).toBe(PATHS[to])
    answer = sendStream(vendor.stream(scenario))
    const reply = await ask(from, to, streaming)
    client.grammar(await reply.clone().text())
    expect(await client.read(reply, true)).toEqual(seen)
    expect(asked?.body).toContain('"stream":true')
    answer = sendCompressed(vendor.stream(scenario))
    expect(await client.read(await ask(from, to, streaming), true)).toEqual(seen)
  })

  it('an error before the answer keeps its status', async () => {
    answer = sendJson(vendor.error('too busy'), 429)
    const reading = ask(from, to).then((reply) => client.read(reply, false))
    await expect(reading).rejects.toMatchObject({ status: 429, message: expect.stringContaining('too busy') as string })
  })

  it('an error within a stream, and a stream that breaks, reach the client', async () => {
    const frames = vendor.stream({ text: 'hello', stop: 'stop', usage: { input: 1, cached: 0, output: 1 } })
    answer = sendStream([...frames.slice(0, 2), vendor.errorFrame('too busy')])
    const within = await ask(from, to, streaming)
    await expect(client.read(within, true)).rejects.toThrow('too busy')
    answer = sendStream(frames.slice(0, 2), false)
    const broken = await ask(from, to, streaming)
    framesOf(await broken.clone().text())
    await expect(client.read(broken, true)).rejects.toThrow('ended early')
  })

  it('the key of the client is where the provider looks for it, and nothing of the vendor of the client remains', async () => {
    answer = sendJson(vendor.whole({ text: 'x', stop: 'stop', usage: { input: 1, cached: 0, output: 1 } }))
    await ask(from, to, { headers: KEYS[from] })
    expect(asked?.headers).toMatchObject({ authorization: 'Bearer k' })
    expect(Object.keys(asked?.headers ?? {}).filter((name) => /api-key|anthropic|goog/.test(name))).toEqual([])
  })

  it('a field that the provider cannot have is refused by its name', async () => {
    asked = undefined
    const reply = await ask(from, to, { fields: { odd: 1 } })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      error: { message: expect.stringContaining('"odd" is not supported by this provider') as string },
    })
    expect(asked).toBeUndefined()
  })
})
