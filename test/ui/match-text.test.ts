import { expect, it } from 'vitest'
import { matchText } from '../../ui/match-text.ts'

it.each([
  [{ path: { pathPrefix: '/a' }, method: 'POST' }, 'path prefix /a and method POST'],
  [{ path: { exact: '/a' }, headers: [{ name: 'x-a', value: { exact: 'b' } }] }, 'path exactly /a and header x-a: b'],
  [
    { path: { regex: '/a+' }, query: [{ name: 'q', value: { regex: 'b+' } }] },
    'path regex /a+ and query parameter q regex b+',
  ],
  [{}, 'all'],
])('has the match %j in words', (match, text) => {
  expect(matchText(match)).toBe(text)
})
