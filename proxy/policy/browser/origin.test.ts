import { describe, expect, it } from 'vitest'
import { canonicalOrigin, compileOrigins, isOriginOf, parseOrigin } from './origin.ts'

describe('parseOrigin', () => {
  it.each([
    ['http://example.com', 'http://example.com:80'],
    ['HTTPS://Example.COM', 'https://example.com:443'],
    ['https://example.com:8443', 'https://example.com:8443'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['chrome-extension://abcdef', 'chrome-extension://abcdef'],
    ['null', undefined],
    ['', undefined],
    ['example.com', undefined],
    ['https://', undefined],
    ['https://user@example.com', undefined],
    ['https://example.com/', undefined],
    ['https://example.com:0', undefined],
    ['https://example.com:65536', undefined],
    ['https://example.com:', undefined],
    ['https://a b', undefined],
    [`https://${'a'.repeat(400)}`, undefined],
  ])('%s', (text, canonical) => {
    const origin = parseOrigin(text)
    expect(origin === undefined ? undefined : canonicalOrigin(origin)).toBe(canonical)
  })
})

it.each([
  ['http://example.com', 'http', 'example.com', true],
  ['http://example.com', 'http', 'example.com:80', true],
  ['http://example.com:80', 'http', 'EXAMPLE.com', true],
  ['https://example.com', 'https', 'example.com:443', true],
  ['https://example.com', 'http', 'example.com', false],
  ['http://example.com:8080', 'http', 'example.com', false],
  ['http://evil.com', 'http', 'example.com', false],
])('%s belongs to %s://%s: %s', (text, scheme, authority, isSame) => {
  const origin = parseOrigin(text)
  expect(origin !== undefined && isOriginOf(origin, scheme, authority)).toBe(isSame)
})

describe('compileOrigins', () => {
  it.each([
    [['https://a.com'], 'https://a.com', true],
    [['https://a.com'], 'https://A.com:443', true],
    [['https://a.com:443'], 'https://a.com', true],
    [['https://a.com'], 'http://a.com', false],
    [['https://a.com'], 'https://a.com:8443', false],
    [['https://a.com'], 'https://a.com.evil.org', false],
    [['https://*.a.com'], 'https://x.a.com', true],
    [['https://*.a.com'], 'https://x.y.a.com', true],
    [['https://*.a.com'], 'https://a.com', false],
    [['https://*.a.com'], 'https://xa.com', false],
    [['https://*.a.com:8443'], 'https://x.a.com', false],
    [['https://a*b*c.com'], 'https://a1b2c.com', true],
    [['https://a*b*c.com'], 'https://a1c.com', false],
    [['https://a*bb*bc.com'], 'https://a-bbc.com', false],
    [['https://ab*ba.com'], 'https://aba.com', false],
    [['https://*'], 'https://anything.org', true],
    [['https://*'], 'http://anything.org', false],
    [['*'], 'http://anything.org', true],
    [['*'], 'null', false],
    [['https://*.a.com'], 'https://*.a.com', false],
    [['not an origin'], 'not an origin', false],
    [[], 'https://a.com', false],
  ])('%j against %s: %s', (entries, text, isAllowed) => {
    expect(compileOrigins(entries)(text)).toBe(isAllowed)
  })
})
