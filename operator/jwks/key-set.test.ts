import { expect, it } from 'vitest'
import { keySetOf } from './key-set.ts'

it('keeps public members only, whatever else the server sends', () => {
  const text = JSON.stringify({
    keys: [{ kty: 'EC', kid: 'a', crv: 'P-256', x: 'x', y: 'y', d: 'private', other: 1, __proto__: { p: 1 } }],
    token: 'secret',
  })
  expect(keySetOf(text)).toEqual({ jwks: '{"keys":[{"kty":"EC","kid":"a","crv":"P-256","x":"x","y":"y"}]}' })
  expect(keySetOf('{"keys":[{"kty":"oct","kid":"s","k":"secret"}]}')).toEqual({
    jwks: '{"keys":[{"kty":"oct","kid":"s"}]}',
  })
  expect(keySetOf('{"keys":[]}')).toEqual({ jwks: '{"keys":[]}' })
})

it.each(['', 'x', '[]', 'null', '{}', '{"keys":{}}', '{"keys":[1]}', '{"keys":[null]}', '{"keys":[{"kid":"a"}]}'])(
  '%j is no key set',
  (text) => {
    expect(keySetOf(text)).toHaveProperty('problem')
  },
)
