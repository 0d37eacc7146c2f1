// backend.ai: aliases, defaults, overrides, computed fields and prompts, as the provider gets them.
import OpenAI from 'openai'
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'

const SAMPLE = 'backend-ai.yaml'
const JSON_BODY = { 'content-type': 'application/json' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'AIRequestEdits',
    description: 'the provider gets the request with alias, defaults, overrides, computed field and prompt',
    sample: SAMPLE,
    async run(gateway) {
      const client = new OpenAI({
        baseURL: `${gateway.url}/v1`,
        apiKey: 'of-the-client',
        maxRetries: 0,
        defaultHeaders: { 'x-user': 'ann' },
      })
      const messages = [{ role: 'user' as const, content: 'hello there' }]
      const reply = await client.chat.completions.create({ model: 'fast', max_tokens: 5000, messages })
      expect(reply.model).toBe('demo-small')
      expect(reply.choices[0]?.message.content).toBe('You said: hello there')
      const { headers, body } = gateway.upstreams.lastModelRequest()
      expect(headers.authorization).toBe('Bearer demo-key')
      expect(body).toMatchObject({ model: 'demo-small', temperature: 0.2, max_tokens: 64, user: 'ann' })
      expect(body['messages']).toEqual([{ role: 'system', content: 'Answer in one sentence.' }, ...messages])
      await client.chat.completions.create({ model: 'other', temperature: 0.9, messages })
      expect(gateway.upstreams.lastModelRequest().body).toMatchObject({ model: 'other', temperature: 0.9 })
    },
  },
  {
    shortName: 'AIPathsAndPrompts',
    description:
      'the end of the path selects the format; prompts are added before and after the messages of the client',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-ai', {
      backend: {
        ai: {
          prompt: { append: [{ role: 'user', content: 'Be brief.' }] },
          routes: {
            '/v1/raw': 'Passthrough',
            '/v1/messages': 'Messages',
            '/v1/messages/count_tokens': 'AnthropicTokenCount',
            '*': 'Completions',
          },
        },
      },
    }),
    async run(gateway) {
      const messages = [{ role: 'user', content: 'hello there' }]
      const sent = JSON.stringify({ model: 'fast', max_tokens: 9, messages })
      const post = (path: string) => gateway.ask(path, { method: 'POST', headers: JSON_BODY, body: sent })
      const whole = [
        { role: 'system', content: 'Answer in one sentence.' },
        ...messages,
        { role: 'user', content: 'Be brief.' },
      ]
      expect(JSON.parse((await post('/v1/chat/completions')).text)).toMatchObject({ object: 'chat.completion' })
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/chat/completions',
        body: { messages: whole },
      })
      // The format of another kind of provider.
      expect(JSON.parse((await post('/v1/messages')).text)).toMatchObject({ type: 'message', role: 'assistant' })
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/v1/chat/completions',
        body: { messages: whole },
      })
      const { status, text } = await post('/v1/messages/count_tokens')
      expect([status, text]).toEqual([400, expect.stringContaining('unsupported conversion: from AnthropicTokenCount')])
      await post('/v1/raw')
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({ path: '/v1/raw', body: JSON.parse(sent) })
    },
  },
  {
    shortName: 'AIPromptCachingNotRun',
    description: 'prompt caching is not supported, has no effect, and is reported in the status',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-ai', { backend: { ai: { promptCaching: { cacheSystem: true } } } }),
    async run(gateway) {
      expect((await chat(gateway, 'hello there')).status).toBe(200)
      const [accepted] = gateway.conditions('GwPolicy', 'backend-ai')
      expect(accepted?.message).toContain('backend.ai.promptCaching is not supported by this version')
    },
  },
  {
    shortName: 'AIPromptGuardNotRun',
    description: 'a prompt guard is not supported: requests that it would check are rejected',
    sample: SAMPLE,
    change: replacing(
      '    ai:\n      modelAliases:',
      `    ai:
      promptGuard:
        request:
          - regex:
              builtins:
                - Email
      modelAliases:`,
    ),
    async run(gateway) {
      const { status, text } = await chat(gateway, 'hello there')
      expect([status, JSON.parse(text)]).toMatchObject([403, { error: { message: 'denied by policy' } }])
      const [accepted] = gateway.conditions('GwPolicy', 'backend-ai')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('backend.ai.promptGuard is not supported by this version')
      expect(gateway.source.problems.map(({ path }) => path)).toContain('spec.backend.ai.promptGuard')
    },
  },
]
