import { expect, it } from 'vitest'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { SessionKeyFact } from './input.ts'
import { sessionKeyName, sessionKeyOf } from './session-key.ts'

const KEY = 'Ab'.repeat(32)
const gateway: Gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'a', namespace: 'b' },
  spec: { gatewayClassName: 'gw', listeners: [] },
}

it('keeps a present key and takes the new one where there is none', () => {
  const present = sessionKeyOf(gateway, { state: 'present', key: KEY })
  expect(present).toMatchObject({ key: KEY })
  expect(sessionKeyOf(gateway, { state: 'absent', newKey: KEY })).toEqual(present)
  expect(sessionKeyOf(gateway, { state: 'absent', newKey: '0'.repeat(64) })).not.toEqual(present)
})

it.each<[string, string | undefined, string]>([
  ['missing', undefined, 'missing'],
  ['empty', '', 'malformed'],
  ['one digit short', KEY.slice(1), 'malformed'],
  ['one digit long', `${KEY}0`, 'malformed'],
  ['with another character', `${KEY.slice(1)}g`, 'malformed'],
  ['with a line break', `${KEY}\n`, 'malformed'],
])('refuses a key that is %s, and does not repeat it', (_, key, word) => {
  const fact: SessionKeyFact = { state: 'present', key }
  const result = sessionKeyOf(gateway, fact)
  const problem = typeof result === 'object' && 'problem' in result ? result.problem : undefined
  expect(problem).toMatchObject({
    object: { apiVersion: 'v1', kind: 'Secret', namespace: 'b', name: 'a-session-key' },
    path: 'data.key',
    reason: 'InvalidSessionKey',
  })
  expect(problem?.message).toContain(word)
  if (key !== undefined && key !== '') expect(JSON.stringify(problem)).not.toContain(key.trim())
})

it('names the Secret after the safe name', () => {
  expect(sessionKeyName('a'.repeat(64))).toMatch(/^a{50}-[0-9a-f]{12}-session-key$/)
})
