// Prompt guards: patterns, and a webhook that masks, rejects and fails.
import { expect } from 'vitest'
import { changing, type ConformanceCase, type SpecChange } from './suite/case.ts'
import { chat } from './suite/chat.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'prompt-guard.yaml'

function lastText(gateway: SampleGateway): unknown {
  const { messages } = gateway.upstreams.lastModelRequest().body
  return Array.isArray(messages) ? (messages as readonly unknown[]).at(-1) : undefined
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'PromptGuardChain',
    description: 'each guard gets the texts that the previous one left, and masks them or rejects',
    sample: SAMPLE,
    async run(gateway) {
      const { status, text } = await chat(gateway, 'the secret of ann@example.com')
      expect(status).toBe(200)
      expect(lastText(gateway)).toEqual({ role: 'user', content: 'the *** of <EMAIL_ADDRESS>' })
      expect(text).toContain('You said: the *** of <EMAIL_ADDRESS>')
      expect(await chat(gateway, 'a weapon')).toMatchObject({ status: 451, text: 'not about weapons' })
      const failed = await chat(gateway, 'broken')
      expect([failed.status, failed.text]).toEqual([503, expect.stringContaining('prompt guard failed')])
    },
  },
  {
    shortName: 'PromptGuardWebhookHeaders',
    description: 'the webhook gets the header fields of the client that match, and computed ones',
    sample: SAMPLE,
    async run(gateway) {
      const headers = { 'x-user': 'ann', 'x-tenant': 'shop' }
      await chat(gateway, 'who am I', { headers })
      expect(lastText(gateway)).toEqual({ role: 'user', content: 'ann of shop' })
      await chat(gateway, 'who am I', { headers: { ...headers, 'x-tenant': 'SHOP' } })
      expect(lastText(gateway)).toEqual({ role: 'user', content: 'ann of ' })
    },
  },
  {
    shortName: 'PromptGuardWebhookOfResponses',
    description: 'a webhook masks and rejects responses; one with failureMode FailOpen is skipped if it fails',
    sample: SAMPLE,
    change: guards({
      request: null,
      response: [
        webhook({
          headers: { 'x-user': '"bob"' },
          forwardHeaderMatches: [{ name: 'content-type', type: 'Exact', value: 'application/json' }],
          failureMode: 'FailOpen',
        }),
      ],
    }),
    async run(gateway) {
      expect((await chat(gateway, 'a secret, who am I')).text).toContain('You said: a ***, bob of ')
      expect(lastText(gateway)).toEqual({ role: 'user', content: 'a secret, who am I' })
      expect(await chat(gateway, 'a weapon')).toMatchObject({ status: 451, text: 'not about weapons' })
      expect((await chat(gateway, 'broken')).text).toContain('You said: broken')
    },
  },
  {
    shortName: 'PromptGuardWebhookFailures',
    description: 'one webhook is skipped for requests, and another rejects the response, if they fail',
    sample: SAMPLE,
    change: guards({
      request: [
        webhook({
          forwardHeaderMatches: [{ name: 'x-tenant', type: 'Exact', value: 'shop' }],
          failureMode: 'FailOpen',
        }),
      ],
      response: [
        webhook({
          forwardHeaderMatches: [{ name: 'x-absent', type: 'RegularExpression', value: '.*' }],
          failureMode: 'FailClosed',
        }),
      ],
    }),
    async run(gateway) {
      const { status, text } = await chat(gateway, 'broken')
      expect(lastText(gateway)).toEqual({ role: 'user', content: 'broken' })
      expect([status, text]).toEqual([503, expect.stringContaining('prompt guard failed')])
      await chat(gateway, 'who am I', { headers: { 'x-tenant': 'shop' } })
      expect(lastText(gateway)).toEqual({ role: 'user', content: ' of shop' })
      await chat(gateway, 'who am I', { headers: { 'x-tenant': 'shops' } })
      expect(lastText(gateway)).toEqual({ role: 'user', content: ' of ' })
    },
  },
]

function webhook(settings: SpecChange): SpecChange {
  return { webhook: { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'guard' }, ...settings } }
}

function guards(promptGuard: SpecChange): (manifests: string) => string {
  return changing('GwPolicy/prompt-guard', { backend: { ai: { promptGuard } } })
}
