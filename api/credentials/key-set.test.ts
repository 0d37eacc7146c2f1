import { expect, it } from 'vitest'
import { keySetOf, publicKeySet } from './key-set.ts'

it('keeps public members only, whatever else the server sends', () => {
  const text = JSON.stringify({
    keys: [{ kty: 'EC', kid: 'a', crv: 'P-256', x: 'x', y: 'y', d: 'private', other: 1, __proto__: { p: 1 } }],
    token: 'secret',
  })
  expect(keySetOf(text)).toHaveProperty('jwks', '{"keys":[{"kty":"EC","kid":"a","crv":"P-256","x":"x","y":"y"}]}')
  expect(keySetOf('{"keys":[{"kty":"oct","kid":"s","k":"secret"}]}')).toHaveProperty(
    'jwks',
    '{"keys":[{"kty":"oct","kid":"s"}]}',
  )
  expect(keySetOf('{"keys":[]}')).toEqual({ jwks: '{"keys":[]}', removed: [], isComplete: true })
})

it.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])('removes the private member %s and names it', (name) => {
  const key = { kty: 'RSA', kid: 'a', n: 'n', e: 'AQAB' }
  const outcome = publicKeySet(JSON.stringify({ keys: [key, { ...key, [name]: 'planted-secret' }] }))
  expect(outcome?.jwks).toBe(JSON.stringify({ keys: [key, key] }))
  expect(outcome?.removed).toEqual([{ index: 1, isSymmetric: false, message: expect.stringContaining(`\`${name}\``) }])
  expect(JSON.stringify(outcome)).not.toContain('planted')
})

it('distinguishes a symmetric key from an asymmetric one', () => {
  const outcome = publicKeySet('{"keys":[{"kty":"oct","kid":"s","k":"planted-secret"}]}')
  expect(outcome?.removed).toEqual([{ index: 0, isSymmetric: true, message: expect.stringContaining('symmetric') }])
})

it('removes members that are not keys, which could be texts of private ones', () => {
  const outcome = publicKeySet('{"keys":["planted-secret",{"kty":"EC","kid":"a"},{"d":"planted-secret"}]}')
  expect(outcome).toEqual({ jwks: '{"keys":[{"kty":"EC","kid":"a"}]}', removed: [], isComplete: false })
})

it.each(['', 'x', '[]', 'null', '{}', '{"keys":{}}', '{"keys":[1]}', '{"keys":[null]}', '{"keys":[{"kid":"a"}]}'])(
  '%j is no key set',
  (text) => {
    expect(keySetOf(text)).toHaveProperty('problem')
  },
)
