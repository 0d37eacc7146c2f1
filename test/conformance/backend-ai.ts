// backend.ai: aliases, defaults, overrides, computed fields and prompts, as the provider gets them.
import OpenAI from 'openai'
import { expect } from 'vitest'
import { all, changing, type ConformanceCase, type SpecChange } from './suite/case.ts'
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
    shortName: 'AIPromptCaching',
    description: 'a request to Bedrock has cache points behind tools, system prompt and a message',
    sample: SAMPLE,
    change: all(
      changing('GwBackend/model', {
        ai: { provider: { p1: null, p7: { model: 'anthropic.claude-opus-4-1-20250805-v1:0' } } },
      }),
      changing('GwPolicy/backend-ai', {
        backend: {
          ai: {
            promptCaching: {
              cacheSystem: true,
              cacheMessages: true,
              cacheTools: true,
              minTokens: 5,
              cacheMessageOffset: 1,
            },
          },
        },
      }),
    ),
    async run(gateway) {
      const POINT = { cachePoint: { type: 'default' } }
      const messages = ['a', 'b', 'c'].map((content, index) => ({ role: index === 1 ? 'assistant' : 'user', content }))
      const tools = [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }]
      const body = JSON.stringify({ model: 'fast', messages, tools })
      await gateway.ask('/v1/chat/completions', { method: 'POST', headers: JSON_BODY, body })
      expect(gateway.upstreams.lastModelRequest()).toMatchObject({
        path: '/model/anthropic.claude-opus-4-1-20250805-v1%3A0/converse',
        body: {
          toolConfig: { tools: [{ toolSpec: { name: 'now' } }, POINT] },
          system: [{ text: 'Answer in one sentence.' }, POINT],
          messages: [
            { role: 'user', content: [{ text: 'a' }, POINT] },
            { role: 'assistant', content: [{ text: 'b' }] },
            { role: 'user', content: [{ text: 'c' }] },
          ],
        },
      })
      expect(gateway.conditions('GwPolicy', 'backend-ai')[0]?.message).not.toContain('not supported')
    },
  },
  {
    shortName: 'AIPromptGuard',
    description: 'guards mask or reject texts of requests, and mask texts of responses',
    sample: SAMPLE,
    change: guarded({
      request: [
        { regex: { builtins: ['Email'], matches: ['secret-[0-9]+'] } },
        {
          regex: { matches: ['(?i)forbidden'], action: 'Reject' },
          response: { statusCode: 422, message: 'Please use other words.' },
        },
        { regex: { builtins: ['CreditCard'], action: 'Reject' } },
      ],
      response: [
        {
          regex: { matches: ['You [a-z]+'], builtins: ['Ssn'], action: 'Reject' },
          // Has no effect: matches in responses are masked.
          response: { statusCode: 451, message: 'withheld' },
        },
      ],
    }),
    async run(gateway) {
      const reply = await chat(gateway, 'I am a@b.co, secret-7, 078-05-1120')
      expect(reply.status).toBe(200)
      const sent = 'I am <EMAIL_ADDRESS>, <masked>, 078-05-1120'
      expect(gateway.upstreams.lastModelRequest().body['messages']).toContainEqual({ role: 'user', content: sent })
      expect(JSON.parse(reply.text)).toMatchObject({
        choices: [{ message: { content: '<masked>: I am <EMAIL_ADDRESS>, <masked>, <SSN>' } }],
      })
      expect(await chat(gateway, 'something Forbidden')).toMatchObject({ status: 422, text: 'Please use other words.' })
      expect(await chat(gateway, '4111 1111 1111 1111')).toMatchObject({
        status: 403,
        text: 'The request was rejected due to inappropriate content',
      })
    },
  },
  {
    shortName: 'AIPromptGuardBroken',
    description: 'a guard that cannot work is reported, and rejects the requests that it would check',
    sample: SAMPLE,
    change: guarded({ request: [{ webhook: { backendRef: { name: 'nowhere', port: 80 } } }] }),
    async run(gateway) {
      const { status, text } = await chat(gateway, 'hello there')
      expect([status, text]).toEqual([503, expect.stringContaining('prompt guard failed')])
      const [accepted] = gateway.conditions('GwPolicy', 'backend-ai')
      expect(accepted?.message).toContain('spec.backend.ai.promptGuard.request[0].webhook.backendRef')
    },
  },
  {
    shortName: 'AIPromptGuardStreaming',
    description: 'guards of responses mask the texts of streams in valid events, wherever the provider cuts them',
    sample: SAMPLE,
    change: guarded({ streaming: 'Enabled', response: [{ regex: { builtins: ['Email'], matches: ['You said'] } }] }),
    async run(gateway) {
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'of-the-client', maxRetries: 0 })
      const messages = [{ role: 'user' as const, content: 'I am a@b.co today' }]
      const stream = await client.chat.completions.create({ model: 'fast', messages, stream: true })
      let text = ''
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
      expect(text).toBe('<masked>: I am <EMAIL_ADDRESS> today')
    },
  },
]

function guarded(promptGuard: SpecChange): (manifests: string) => string {
  return changing('GwPolicy/backend-ai', { backend: { ai: { promptGuard } } })
}
