// Which redirect URIs of MCP clients are allowed.
import { describe, expect, it } from 'vitest'
import { isRedirectEntry, redirectRule } from './redirect-uris.ts'

describe('without a list', () => {
  const isAllowed = redirectRule(undefined)

  it.each([
    ['http://localhost:1234/cb', true, true],
    ['http://127.0.0.1/cb', true, true],
    ['http://[::1]:9/', true, true],
    ['https://localhost/cb', true, true],
    ['https://app.example/cb', true, false],
    ['cursor://anysphere.cursor-retrieval/oauth/callback', true, false],
    ['http://localhost.evil.example/cb', true, false],
    ['http://localhost@evil.example/cb', false, false],
    ['javascript:alert(1)', false, false],
    ['JAVASCRIPT:alert(1)', false, false],
    ['data:text/html,x', false, false],
    ['https://app.example/cb#fragment', false, false],
    ['https://app.example\\@evil.example', false, false],
    ['//app.example/cb', false, false],
    ['', false, false],
    [`https://app.example/${'x'.repeat(2048)}`, false, false],
  ])('%s', (uri, withProvider, alone) => {
    expect([isAllowed(uri, true), isAllowed(uri, false)]).toEqual([withProvider, alone])
  })
})

describe('with a list', () => {
  const isAllowed = redirectRule(['https://app.example/cb', 'http://127.0.0.1/callback', 'https://ide.example/mcp/*'])

  it.each([
    ['https://app.example/cb', true],
    ['https://app.example/cb2', false],
    ['https://app.example/cb?x=1', false],
    ['http://app.example/cb', false],
    ['http://127.0.0.1:50123/callback', true],
    ['http://127.0.0.1:50123/other', false],
    ['http://localhost:50123/callback', false],
    ['https://ide.example/mcp/a/b', true],
    ['https://ide.example.evil.example/mcp/', false],
  ])('%s', (uri, expected) => {
    for (const isProviderChecking of [true, false]) expect(isAllowed(uri, isProviderChecking)).toBe(expected)
  })

  it('allows every valid URI with *', () => {
    const any = redirectRule(['*'])
    expect([any('https://other.example/', false), any('javascript:x', false)]).toEqual([true, false])
  })
})

describe('entries', () => {
  it.each([
    ['*', true],
    ['https://app.example/cb', true],
    ['https://app.example/*', true],
    ['https://app.example*', false],
    ['http://app.example/cb', false],
    ['cursor://host/*', true],
    ['https://*', false],
    ['app.example', false],
  ])('%s', (entry, expected) => {
    expect(isRedirectEntry(entry)).toBe(expected)
  })
})
