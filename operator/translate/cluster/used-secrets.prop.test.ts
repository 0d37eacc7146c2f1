// The selected secrets of several lists are those that going through all lists gives, and keep their identity.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Policy, RenderedSecret } from '#api/ir/types.gen.ts'
import { secretSelector } from './used-secrets.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e']

function policyWith(secret: string): Policy {
  const name = { kind: 'GwPolicy', namespace: 'shop', name: secret }
  return { key: secret, name, target: {}, policy: { backend: { auth: { key: { secret } } } } }
}

const POLICIES = new Map(KEYS.map((key) => [key, policyWith(key)]))
const SECRETS = KEYS.flatMap((key) => ['1', '2'].map((value): RenderedSecret => ({ key, value })))

const held = fc.shuffledSubarray(SECRETS)
const versions = fc.array(fc.tuple(fc.subarray(KEYS), held, held, held), { maxLength: 8 })

it('selects the last secret of each key that is used, in order of the keys', () => {
  fc.assert(
    fc.property(versions, (steps) => {
      const select = secretSelector()
      for (const [used, ...lists] of steps) {
        const policies = used.flatMap((key) => POLICIES.get(key) ?? [])
        const users = { listeners: [], backends: [], policies }
        const found = select(users, ...lists)
        const last = new Map(lists.flat().map((secret) => [secret.key, secret]))
        expect(found).toEqual(used.toSorted().flatMap((key) => last.get(key) ?? []))
        expect(select({ ...users, policies: [...policies] }, ...lists.map((list) => [...list]))).toBe(found)
      }
    }),
  )
})
