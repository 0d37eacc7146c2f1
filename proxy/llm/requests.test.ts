// The request to a provider: the client's own bytes if the format is the same, with the edits.
import { createServer, type Server } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

let upstream: Server
let gateway: TestProxy
let received = ''

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received = Buffer.concat(chunks).toString('utf8')
      response.end('{}')
    })
  })
  const hostOverride = { host: '127.0.0.1', port: await listening(upstream) }
  const ai = { groups: [{ providers: [{ name: 'backend', provider: { openai: {} }, hostOverride }] }] }
  gateway = await testProxy({
    routes: [
      { name: 'plain', prefix: '/v1', backend: { ai } },
      {
        name: 'edited',
        prefix: '/edited',
        backend: {
          ai,
          inlinePolicies: {
            ai: {
              routes: { '/responses': 'Responses' },
              modelAliases: { fast: 'real' },
              defaults: [{ field: 'seed', value: 1 }],
              overrides: [{ field: 'temperature', value: 0.5 }],
              prompt: {
                prepend: [{ role: 'system', content: 'be brief' }],
                append: [{ role: 'user', content: 'thanks' }],
              },
            },
          },
        },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
})

async function sent(path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<unknown> {
  received = ''
  const reply = await fetch(gateway.url + path, { method: 'POST', headers, body })
  return reply.status === 200 ? received : [reply.status, await reply.text()]
}

const ODD = '"id" : 12345678901234567890, "t":1.0, "e":1e2, "s":"\\u00e9"'

describe('a request in the format of its provider', () => {
  it.each([
    ['as it came', '/v1/chat/completions', `{ "model":"m", ${ODD} }\n`, `{ "model":"m", ${ODD} }\n`],
    [
      'with usage asked for, when it is a stream',
      '/v1/chat/completions',
      `{"model":"m","stream":true,"stream_options":{"x":1.0},${ODD}}`,
      `{"model":"m","stream":true,"stream_options":{"x":1.0,"include_usage":true},${ODD}}`,
    ],
    [
      'with nothing but its edits',
      '/edited/chat/completions',
      `{"model": "fast", "messages":[ {"role":"user","n":1.0} ], "temperature" : 1.0, ${ODD}}`,
      `{"model": "real", "messages":[{"role":"system","content":"be brief"}, {"role":"user","n":1.0} ,{"role":"user","content":"thanks"}], "temperature" : 0.5, ${ODD},"seed":1}`,
    ],
    [
      'with its prompts, in the responses format',
      '/edited/responses',
      `{"model":"m","input":"hi",${ODD}}`,
      `{"model":"m","input":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},{"role":"user","content":"thanks"}],${ODD},"temperature":0.5,"seed":1}`,
    ],
    [
      'with each member once, where it names one twice',
      '/v1/chat/completions',
      '{"model":"dear","model":"cheap","t":1.0}',
      '{"model":"cheap","t":1}',
    ],
  ])('is sent %s', async (_, path, body, expected) => expect(await sent(path, body)).toBe(expected))

  it('is sent decoded, byte for byte', async () => {
    const body = `{"model":"m",${ODD}}`
    expect(await sent('/v1/chat/completions', gzipSync(body), { 'content-encoding': 'gzip' })).toBe(body)
  })

  it('is refused when it is not UTF-8', async () => {
    expect(await sent('/v1/chat/completions', Buffer.from('{"model":"\xff"}', 'latin1'))).toEqual([
      400,
      expect.stringContaining('"failed to process LLM request: the body is not valid UTF-8"'),
    ])
  })
})
