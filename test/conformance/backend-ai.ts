// backend.ai: aliases, defaults, overrides, computed fields and prompts, as the provider sees them.
import OpenAI from 'openai'
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'

const SAMPLE = 'backend-ai.yaml'

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
    shortName: 'AIPromptGuardNotRun',
    description: 'a prompt guard, which this version does not run, refuses the requests it would have checked',
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
      expect(await chat(gateway, 'hello there')).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'backend-ai')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
      expect(accepted?.message).toContain('backend.ai.promptGuard is not run by this version')
      expect(gateway.source.problems.map(({ path }) => path)).toContain('spec.backend.ai.promptGuard')
    },
  },
]
