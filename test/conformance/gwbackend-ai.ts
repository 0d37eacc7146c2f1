// GwBackend ai: each kind of provider this version speaks to, alone and in groups.
import OpenAI from 'openai'
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'gwbackend-ai.yaml'
const messages = [{ role: 'user' as const, content: 'hello there' }]

function clientOf(gateway: SampleGateway, path: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}${path}/v1`, apiKey: 'of-the-client', maxRetries: 0 })
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'AIProviders',
    description: 'every provider answers a chat-completions client, streaming or not, and is asked in its own format',
    sample: SAMPLE,
    async run(gateway) {
      const asked = {
        '/openai': ['/v1/chat/completions', 'demo-openai', 'authorization', 'Bearer demo-key'],
        '/anthropic': ['/v1/messages', 'demo-anthropic', 'x-api-key', 'demo-key'],
        '/custom': ['/v1/chat/completions', 'demo-custom', 'authorization', 'Bearer demo-key'],
      } as const
      for (const [path, [upstreamPath, model, header, credential]] of Object.entries(asked)) {
        const reply = await clientOf(gateway, path).chat.completions.create({ model: 'any', messages })
        expect(reply.choices[0]?.message.content, `content of ${path}`).toBe('You said: hello there')
        const request = gateway.upstreams.lastModelRequest()
        expect(request, `request of ${path}`).toMatchObject({
          path: upstreamPath,
          body: { model },
          headers: { [header]: credential },
        })
        const stream = await clientOf(gateway, path).chat.completions.create({ model: 'any', messages, stream: true })
        let text = ''
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
        expect(text, `stream of ${path}`).toBe('You said: hello there')
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
    description: 'a group of which this version speaks to no provider leaves its place to the next',
    sample: SAMPLE,
    change: replacing(
      `p1:
              model: demo-first
            host: 127.0.0.1
            port: 18082
            pathPrefix: /v1`,
      `p5:
              model: demo-first`,
    ),
    async run(gateway) {
      expect((await chat(gateway, 'hello', { path: '/groups' })).status).toBe(200)
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/messages',
        body: { model: 'demo-second' },
      })
      expect(gateway.source.problems.map(({ path }) => path)).toEqual(['spec.ai.groups[0].providers[0].p5'])
    },
  },
]
