import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalisedPath } from './request-path.ts'

describe('normalisedPath', () => {
  it.each([
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/%61dmin', '/admin'],
    ['/a%2Db%7E', '/a-b~'],
    ['/a%20b%2F%c3%A9', '/a%20b%2F%c3%A9'],
    ['/public/../admin', '/admin'],
    ['/public/%2e%2E/admin', '/admin'],
    ['/public/.%2e/admin', '/admin'],
    ['/a/./b', '/a/b'],
    ['/a/b/..', '/a/'],
    ['/a/b/.', '/a/b/'],
    ['/..', '/'],
    ['/../../a', '/a'],
    ['/a/.../b', '/a/.../b'],
    ['/.well-known/x', '/.well-known/x'],
    ['/a//b', '/a//b'],
    ['/a//../b', '/a/b'],
    ['/a\\b', '/a/b'],
    ['/a\\..\\b', '/b'],
    ['/a;v=1/b', '/a;v=1/b'],
    ['/a.;v=1/.b;v=1/...;v=1', '/a.;v=1/.b;v=1/...;v=1'],
    // Not resolved twice.
    ['/%2561dmin', '/%2561dmin'],
  ])('%s is %s', (path, expected) => expect(normalisedPath(path)).toBe(expected))

  it.each([
    '/100%',
    '/%',
    '/%4',
    '/%zz',
    '/%%36%31',
    '/public/..;/admin',
    '/public/..;v=1',
    '/public/..%2fadmin',
    '/public%2F..%2fadmin',
    '/public/..%5cadmin',
    '/public%2F..',
    '/public/..%3b/admin',
    '/.;/admin',
    '/%2e;/admin',
    '/.%3B/admin',
    '/public/.;a',
    '/public/.;',
    '/public/.%2fadmin',
    '/public%2f.%2fadmin',
    '/public%2f./admin',
    '/public%5c.;v=1/admin',
  ])('%s is refused', (path) => expect(normalisedPath(path)).toBeUndefined())

  it('gives what URL parsers give, and the same when it is asked again', () => {
    const piece = fc.constantFrom('a', 'B', '.', '..', '...', '%2e', '%41', '%2E.', '%20', '', '~', ';')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/${pieces.join('/')}`
        const result = normalisedPath(path)
        expect(result).toBe(new URL(`http://host${path.replaceAll('%41', 'A')}`).pathname)
        expect(normalisedPath(result ?? '')).toBe(result)
      }),
    )
  })
})
