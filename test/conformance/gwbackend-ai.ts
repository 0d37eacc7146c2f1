// GwBackend ai: each supported kind of provider, alone and in groups.
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { adding, localService } from './suite/services.ts'
import { AZURE, GOOGLE_VENDOR, VENDOR, VERTEX } from './suite/vendor.ts'

const SAMPLE = 'gwbackend-ai.yaml'
const messages = [{ role: 'user' as const, content: 'hello there' }]

const SAID = 'You said: hello there'

function clientOf(gateway: SampleGateway, path: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}${path}/v1`, apiKey: 'of-the-client', maxRetries: 0 })
}

/** A complete response, then a streamed one. */
async function chatsWith(client: OpenAI): Promise<void> {
  const reply = await client.chat.completions.create({ model: 'any', messages })
  expect(reply.choices[0]?.message.content).toBe(SAID)
  const stream = await client.chat.completions.create({ model: 'any', messages, stream: true })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe(SAID)
}

const ROUTES = {
  '/v1/chat/completions': 'Completions',
  '/v1/messages': 'Messages',
  '/v1/messages/count_tokens': 'AnthropicTokenCount',
  '/v1/responses': 'Responses',
  '/v1/embeddings': 'Embeddings',
  '/v1/rerank': 'Rerank',
}
const VENDOR_REF = { group: '', kind: 'Service', name: 'vendor', port: 80 }
const withVendor = adding(...localService({ name: 'vendor', targetPort: 18_082 }))
const formats = Object.entries(VENDOR).map(([type, path]) => ({ type, path }))
const ANY_FORMAT = { custom: { backendRef: VENDOR_REF, model: 'demo-vendor', formats } }

/** Each SDK gets a response in its own format, and the provider gets the request at the path of the format. */
async function speaksAllFormats(gateway: SampleGateway, path: string): Promise<void> {
  const openai = clientOf(gateway, path)
  const anthropic = new Anthropic({ baseURL: gateway.url + path, apiKey: 'of-the-client', maxRetries: 0 })
  const asked = (format: keyof typeof VENDOR): void =>
    expect(gateway.upstreams.lastModelRequest()).toMatchObject({
      path: VENDOR[format],
      headers: { authorization: 'Bearer demo-key' },
      body: { model: 'demo-vendor' },
    })

  await chatsWith(openai)
  asked('Completions')
  expect((await openai.responses.create({ model: 'any', input: 'hello there' })).output_text).toBe(SAID)
  asked('Responses')
  const { data } = await openai.embeddings.create({ model: 'any', input: ['one', 'three'] })
  expect(data.map(({ embedding }) => embedding)).toEqual([[3], [5]])
  asked('Embeddings')

  const body = { model: 'any', max_tokens: 9, messages }
  expect((await anthropic.messages.create(body)).content).toMatchObject([{ type: 'text', text: SAID }])
  expect(await anthropic.messages.stream(body).finalText()).toBe(SAID)
  asked('Messages')
  expect(await anthropic.messages.countTokens({ model: 'any', messages })).toEqual({ input_tokens: 2 })
  asked('AnthropicTokenCount')

  const rerank = JSON.stringify({ model: 'any', query: 'q', documents: ['a', 'abc'] })
  const headers = { 'content-type': 'application/json' }
  const ranked = await gateway.ask(`${path}/v1/rerank`, { method: 'POST', headers, body: rerank })
  expect(JSON.parse(ranked.text)).toMatchObject({ results: [{ index: 1 }, { index: 0 }] })
  asked('Rerank')
}

const GOOGLE_FORMATS = Object.entries(GOOGLE_VENDOR).map(([type, path]) => ({ type, path }))
const GOOGLE = { custom: { backendRef: VENDOR_REF, model: 'demo-vendor', formats: GOOGLE_FORMATS } }
const GOOGLE_POLICIES = {
  ai: { routes: { ':generateContent': 'GenerateContent', ':countTokens': 'GeminiCountTokens' } },
}

const LOCAL = { host: '127.0.0.1', port: 18_082 }
const KEY = { 'api-key': 'demo-key' }

function vertexBackend(model: string) {
  const p6 = { projectId: 'demo', region: 'europe-west4', model }
  return { ai: { provider: { p1: null, p4: null, pathPrefix: null, p6, ...LOCAL } } }
}

/** The SDK of Google reads both answers, and the paths have the model behind those of the formats. */
async function speaksGoogle(gateway: SampleGateway, path: string): Promise<void> {
  const httpOptions = { baseUrl: gateway.url + path }
  const { models } = new GoogleGenAI({ apiKey: 'of-the-client', httpOptions })
  const request = { model: 'any', contents: 'hello there' }
  const asked = (): unknown => gateway.upstreams.lastModelRequest().path
  expect((await models.generateContent(request)).text).toBe(SAID)
  expect(asked()).toBe(`${GOOGLE_VENDOR.GenerateContent}/models/demo-vendor:generateContent`)
  expect(await models.countTokens(request)).toMatchObject({ totalTokens: 2 })
  expect(asked()).toBe(`${GOOGLE_VENDOR.GeminiCountTokens}/models/demo-vendor:countTokens`)
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'AIProviders',
    description: 'every provider answers a chat-completions client, streaming or not, and gets its own format',
    sample: SAMPLE,
    async run(gateway) {
      const asked = {
        '/openai': ['/v1/chat/completions', 'demo-openai', 'authorization', 'Bearer demo-key'],
        '/anthropic': ['/v1/messages', 'demo-anthropic', 'x-api-key', 'demo-key'],
        '/custom': ['/v1/chat/completions', 'demo-custom', 'authorization', 'Bearer demo-key'],
      } as const
      for (const [path, [upstreamPath, model, header, credential]] of Object.entries(asked)) {
        await chatsWith(clientOf(gateway, path))
        const request = gateway.upstreams.lastModelRequest()
        expect(request, `request of ${path}`).toMatchObject({
          path: upstreamPath,
          body: { model },
          headers: { [header]: credential },
        })
      }
    },
  },
  {
    shortName: 'AIGroups',
    description: 'the first group serves',
    sample: SAMPLE,
    async run(gateway) {
      expect((await chat(gateway, 'hello', { path: '/groups' })).status).toBe(200)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({ body: { model: 'demo-first' } })
    },
  },
  {
    shortName: 'AIGroupsNext',
    description: 'a group without a valid provider is skipped',
    sample: SAMPLE,
    change: replacing(
      `p1:
              model: demo-first
            host: 127.0.0.1`,
      `p1:
              model: demo-first
            host: http://127.0.0.1`,
    ),
    async run(gateway) {
      expect((await chat(gateway, 'hello', { path: '/groups' })).status).toBe(200)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/messages',
        body: { model: 'demo-second' },
      })
      expect(gateway.source.problems.map(({ path }) => path)).toEqual(['spec.ai.groups[0].providers[0].host'])
    },
  },
  {
    shortName: 'AICustomFormats',
    description: 'a provider behind a Service gets each of its formats at the path of the format',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/custom', {
        ai: { provider: { ...ANY_FORMAT, host: null, port: null } },
        policies: { ai: { routes: ROUTES } },
      }),
      withVendor,
    ),
    run: (gateway) => speaksAllFormats(gateway, '/custom'),
  },
  {
    shortName: 'AICustomFormatsInGroup',
    description: 'a provider of a group gets each of its formats at the path of the format',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/groups', {
        ai: { groups: [{ providers: [{ name: 'first', ...ANY_FORMAT }] }] },
        policies: { ai: { routes: ROUTES } },
      }),
      withVendor,
    ),
    run: (gateway) => speaksAllFormats(gateway, '/groups'),
  },
  {
    shortName: 'AIGoogleFormats',
    description: 'a provider with the formats of Google gets the model in the path, alone or in a group',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/custom', {
        ai: { provider: { ...GOOGLE, host: null, port: null } },
        policies: GOOGLE_POLICIES,
      }),
      changing('GwBackend/groups', {
        ai: { groups: [{ providers: [{ name: 'first', ...GOOGLE }] }] },
        policies: GOOGLE_POLICIES,
      }),
      withVendor,
    ),
    async run(gateway) {
      await speaksGoogle(gateway, '/custom')
      await speaksGoogle(gateway, '/groups')
    },
  },
  {
    shortName: 'AIAzure',
    description:
      'Azure OpenAI and Claude in Azure AI Foundry get their paths, their API version and a key of their own',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/openai', {
        ai: {
          provider: {
            p1: null,
            pathPrefix: null,
            p2: { endpoint: 'demo.openai.azure.com', apiVersion: '2024-10-21', deploymentName: 'demo-azure' },
          },
        },
        policies: { ai: { routes: { '/v1/messages': 'Messages' } } },
      }),
      changing('GwBackend/groups', {
        ai: {
          groups: [
            {
              providers: [
                {
                  name: 'first',
                  p3: { resourceName: 'demo', resourceType: 'Type2', projectName: 'p', model: 'claude-demo' },
                  ...LOCAL,
                },
              ],
            },
          ],
        },
      }),
    ),
    async run(gateway) {
      const asked = (): unknown => gateway.upstreams.lastModelRequest()
      await chatsWith(clientOf(gateway, '/openai'))
      // A host of your own keeps the path of the client, here that of a resource.
      expect(asked()).toMatchObject({ path: AZURE.resource, headers: KEY, body: { model: 'demo-azure' } })
      const anthropic = new Anthropic({ baseURL: `${gateway.url}/openai`, apiKey: 'of-the-client', maxRetries: 0 })
      const body = { model: 'any', max_tokens: 9, messages }
      expect((await anthropic.messages.create(body)).content).toMatchObject([{ type: 'text', text: SAID }])
      expect(asked()).toMatchObject({ path: AZURE.deployment, headers: KEY })
      await chatsWith(clientOf(gateway, '/groups'))
      expect(asked()).toMatchObject({
        path: AZURE.claude,
        headers: { 'x-api-key': 'demo-key', 'anthropic-version': '2023-06-01' },
        body: { model: 'claude-demo' },
      })
    },
  },
  {
    shortName: 'AIVertex',
    description: 'Claude and Gemini on Vertex AI get their paths and bodies, with a token',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/openai', vertexBackend('claude-demo-20260101')),
      changing('GwBackend/anthropic', vertexBackend('gemini-demo')),
    ),
    async run(gateway) {
      const asked = (): ReturnType<typeof gateway.upstreams.lastModelRequest> => gateway.upstreams.lastModelRequest()
      const token = { authorization: 'Bearer demo-key' }
      const claude = clientOf(gateway, '/openai')
      expect((await claude.chat.completions.create({ model: 'any', messages })).choices[0]?.message.content).toBe(SAID)
      const version = { anthropic_version: 'vertex-2023-10-16' }
      expect(asked()).toMatchObject({ path: VERTEX.claude, headers: token, body: version })
      expect(asked().body).not.toHaveProperty('model')
      await chatsWith(claude)
      expect(asked()).toMatchObject({ path: VERTEX.claudeStream, headers: token, body: version })
      const gemini = clientOf(gateway, '/anthropic')
      expect((await gemini.chat.completions.create({ model: 'any', messages })).choices[0]?.message.content).toBe(SAID)
      expect(asked()).toMatchObject({ path: VERTEX.gemini, headers: token, body: { contents: [{ role: 'user' }] } })
    },
  },
  {
    shortName: 'AIOtherFormat',
    description: 'a format that a provider does not support is translated if possible, and rejected otherwise',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/custom', {
        ai: {
          provider: {
            custom: { backendRef: VENDOR_REF, formats: [{ type: 'Messages', path: VENDOR.Messages }] },
            host: null,
            port: null,
          },
        },
        policies: { ai: { routes: ROUTES }, auth: { location: { header: { name: 'x-api-key' } } } },
      }),
      withVendor,
    ),
    async run(gateway) {
      const client = clientOf(gateway, '/custom')
      await chatsWith(client)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({ path: VENDOR.Messages })
      await expect(client.embeddings.create({ model: 'any', input: 'a' })).rejects.toThrow(
        'unsupported conversion: from Embeddings',
      )
    },
  },
  {
    shortName: 'AIPath',
    description: 'every request of a provider goes to its path, alone or in a group',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/openai', { ai: { provider: { path: VENDOR.Completions, pathPrefix: null } } }),
      changing('GwBackend/groups', {
        ai: {
          groups: [
            {
              providers: [
                { name: 'first', p4: { model: 'demo' }, host: '127.0.0.1', port: 18_082, path: VENDOR.Messages },
              ],
            },
          ],
        },
      }),
    ),
    async run(gateway) {
      for (const [path, vendorPath] of [
        ['/openai', VENDOR.Completions],
        ['/groups', VENDOR.Messages],
      ] as const) {
        await chatsWith(clientOf(gateway, path))
        expect(gateway.upstreams.lastModelRequest()).toMatchObject({ path: vendorPath })
      }
    },
  },
]
