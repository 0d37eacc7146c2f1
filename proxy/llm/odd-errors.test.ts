// Errors that providers, and what stands in front of them, send in other forms than their format has, and when a client
// may ask again.
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestProxy } from '#proxy/main.testing.ts'
import { type Emulator, gatewayTo, sendJson, startEmulator } from './emulator.testing.ts'
import { CLIENT_ROUTES, clientRequest } from './translate/client-requests.testing.ts'
import { VENDORS, type VendorName } from './translate/vendors.testing.ts'

let emulator: Emulator
let gateway: TestProxy

beforeAll(async () => {
  emulator = await startEmulator()
  const policies = { ai: { routes: CLIENT_ROUTES } }
  gateway = await gatewayTo(emulator, [
    { prefix: '/completions', provider: { custom: { formats: [{ type: 'Completions' }] } }, policies },
    { prefix: '/messages', provider: { anthropic: {} }, policies },
    { prefix: '/gemini', provider: { gemini: {} }, policies },
  ])
})

afterAll(async () => {
  await gateway.stop()
  emulator.stop()
})

const PREFIXES = { Completions: '/completions', Messages: '/messages', GenerateContent: '/gemini' } as const

function ask(from: VendorName, to: keyof typeof PREFIXES, isStreaming = false): Promise<Response> {
  const { path, body } = clientRequest(from, {}, isStreaming)
  const headers = { 'content-type': 'application/json' }
  return fetch(gateway.url + PREFIXES[to] + path, { method: 'POST', headers, body })
}

const ERRORS: readonly (readonly [string, number, object, string])[] = [
  ['vLLM', 400, { object: 'error', message: 'too long', type: 'BadRequestError', param: null, code: 400 }, 'too long'],
  ['FastAPI', 404, { detail: 'Not Found' }, 'Not Found'],
  [
    'the checks of FastAPI',
    422,
    { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing' }] },
    'body.messages.0: Field required',
  ],
  ['a gateway', 403, { message: 'no access' }, 'no access'],
  ['a gateway of AWS', 403, { Message: 'no access' }, 'no access'],
  ['a text alone', 503, { error: 'overloaded' }, 'overloaded'],
]

describe.each([
  ['Messages', 'Completions'],
  ['Completions', 'Messages'],
  ['Responses', 'GenerateContent'],
] as const)('a client of %s and a provider of %s', (from, to) => {
  it.each(ERRORS)('get the status and the text of an error of %s', async (_, status, error, text) => {
    emulator.answer = (_asked, response) => sendJson(response, error, status)
    const reply = await ask(from, to)
    expect([reply.status, await reply.json()]).toMatchObject([status, { error: { message: text } }])
  })

  it('get an error that comes with status 200', async () => {
    emulator.answer = (_asked, response) => sendJson(response, VENDORS[to].error('upstream is busy'))
    const reply = await ask(from, to)
    expect(reply.status).toBe(to === 'Messages' ? 529 : 502)
    expect(await reply.json()).toMatchObject({ error: { message: 'upstream is busy' } })
  })
})

const send =
  (status: number, headers: Readonly<Record<string, string>>, body: string) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }
const BUSY = JSON.stringify(VENDORS.Completions.error('slow down'))
const GOOGLE_BUSY = JSON.stringify({
  error: {
    code: 429,
    message: 'slow down',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' },
    ],
  },
})

describe('retry-after of a provider', () => {
  it.each<[string, VendorName, keyof typeof PREFIXES, (response: ServerResponse) => void, string | null]>([
    ['is kept', 'Messages', 'Completions', send(429, { 'retry-after': '7', 'x-ratelimit-reset': '90' }, BUSY), '7'],
    [
      'is that of its limits',
      'Messages',
      'Completions',
      send(429, { 'x-ratelimit-reset-tokens': '1m30s' }, BUSY),
      '90',
    ],
    [
      'is added to an unchanged error',
      'Completions',
      'Completions',
      send(429, { 'x-ratelimit-reset': '5' }, BUSY),
      '5',
    ],
    ['is that of its body', 'Completions', 'GenerateContent', send(429, {}, GOOGLE_BUSY), '35'],
    ['is unknown', 'Messages', 'Completions', send(429, {}, BUSY), null],
    ['is only that of a 429', 'Messages', 'Completions', send(500, { 'x-ratelimit-reset': '5' }, BUSY), null],
    ['stays when the error cannot be read', 'Completions', 'Messages', send(503, { 'retry-after': '3' }, '<p>'), '3'],
  ])('%s', async (_, from, to, answer, expected) => {
    emulator.answer = (_asked, response) => answer(response)
    for (let i = 0; i < 2; i++) expect((await ask(from, to)).headers.get('retry-after')).toBe(expected)
  })
})

it('nothing follows the end of an answer whose stream breaks behind it', async () => {
  const frames = VENDORS.Messages.stream({ text: 'hello', stop: 'stop', usage: { input: 1, cached: 0, output: 1 } })
  const bytes = gzipSync(`${frames.join('')}${': ping\n\n'.repeat(50)}`, { level: 0 })
  emulator.answer = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
    // Without the check sum.
    response.end(bytes.subarray(0, -20))
  }
  const text = await (await ask('Completions', 'Messages', true)).text()
  expect(text).toContain('hel')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})
