import { expect, it } from 'vitest'
import { unverifiedExpiryMs } from './unverified-claims.ts'

const encoded = (text: string): string => Buffer.from(text).toString('base64url')

it.each([
  ['a JWT', `h.${encoded('{"exp":1700000000}')}.s`, 1_700_000_000_000],
  ['a JWT without a signature', `h.${encoded('{"exp":1700000000}')}.`, 1_700_000_000_000],
  ['two parts', `h.${encoded('{"exp":1700000000}')}`, undefined],
  ['no claim', `h.${encoded('{}')}.s`, undefined],
  ['text as claim', `h.${encoded('{"exp":"1700000000"}')}.s`, undefined],
  ['a claim without end', `h.${encoded('{"exp":1e999}')}.s`, undefined],
  ['claims that are not an object', `h.${encoded('[1]')}.s`, undefined],
  ['claims that are not JSON', `h.${encoded('{')}.s`, undefined],
  [
    'claims that are nested too deeply',
    `h.${encoded(`{"exp":1,"a":${'['.repeat(200)}${']'.repeat(200)}}`)}.s`,
    undefined,
  ],
  ['an opaque token', 'planted', undefined],
])('the end of %s', (_, token, expected) => {
  expect(unverifiedExpiryMs(token)).toBe(expected)
})
