// For all input of a client: parsers of credentials do not throw and do not read past the input, and removed values
// are gone.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHtpasswd } from '#api/credentials/htpasswd.ts'
import { HeaderList } from '../message/headers.ts'
import { parseBasicCredentials } from './basic-credentials.ts'
import { parseKeySet } from './jwks.ts'
import { JwtVerifier } from './jwt-verifier.ts'
import {
  cookieValue,
  queryParameter,
  removeCookie,
  withoutQueryParameter,
  withQueryParameter,
} from './request-fields.ts'

/** Texts built from the tokens of the parsers. */
const piecesOf = (...pieces: string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 })), { maxLength: 12 })
    .map((list) => list.join(''))

const query = piecesOf('key', '%6bey', 'k%65y', '=', '&', '%', '+', '%zz', '%C3', 'a=1', '?', '#')
const cookies = piecesOf('key', '=', ';', '; ', '"', ' ', 'a=1', ',')

describe('query', () => {
  it('no occurrence of the name is left after removal, and every other parameter keeps its bytes', () => {
    fc.assert(
      fc.property(query, (text) => {
        const value = queryParameter(text, 'key')
        const left = withoutQueryParameter(text, 'key')
        expect(queryParameter(left, 'key')).toBeUndefined()
        if (value === undefined) expect(left).toBe(text)
        expect(withoutQueryParameter(left, 'key')).toBe(left)
        const parts = text.split('&')
        expect(left === '' || left.split('&').every((part) => parts.includes(part))).toBe(true)
      }),
    )
  })

  it('a value that is set is read back, once, next to the others', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(query, text, text, (before, name, value) => {
        const after = withQueryParameter(before, name, value)
        expect(queryParameter(after, name)).toBe(value)
        expect(withoutQueryParameter(after, name)).toBe(withoutQueryParameter(before, name))
      }),
    )
  })

  it('agrees with URLSearchParams on whether a well-formed query has the parameter, and which value', () => {
    const pair = fc.tuple(fc.constantFrom('key', 'a', 'ke', 'key2'), fc.string({ unit: 'grapheme', maxLength: 6 }))
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
        const params = new URLSearchParams(pairs)
        expect(queryParameter(params.toString(), 'key')).toBe(params.get('key') ?? undefined)
        params.delete('key')
        expect(withoutQueryParameter(new URLSearchParams(pairs).toString(), 'key')).toBe(params.toString())
      }),
    )
  })
})

describe('cookies', () => {
  it('no occurrence of the name is left after removal', () => {
    fc.assert(
      fc.property(fc.array(cookies, { maxLength: 3 }), (lines) => {
        const headers = HeaderList.of(lines.map((line) => ['cookie', line] as const))
        cookieValue(headers, 'key')
        removeCookie(headers, 'key')
        expect(cookieValue(headers, 'key')).toBeUndefined()
        expect(headers.getAll('cookie').length).toBeLessThan(2)
      }),
    )
  })
})

describe('basic', () => {
  it('reads back written credentials', () => {
    const visible = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/\p{Cc}/u.test(text))
    const name = visible.filter((text) => text !== '' && !text.includes(':'))
    fc.assert(
      fc.property(name, visible, (user, password) => {
        const base64 = Buffer.from(`${user}:${password}`).toString('base64')
        expect(parseBasicCredentials(base64)).toEqual({ name: user, password })
      }),
    )
  })

  it('accepts any bytes without throwing, and rejects control characters', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const parsed = parseBasicCredentials(Buffer.from(bytes).toString('base64'))
        if (parsed === undefined) return
        // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
        expect(`${parsed.name}:${parsed.password}`).not.toMatch(/[\u0000-\u001f\u007f]/)
        expect(parsed.name).not.toBe('')
      }),
    )
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => void parseBasicCredentials(text)))
  })
})

describe('documents', () => {
  it('htpasswd and key sets of any text produce warnings, not errors, and never quote the text', () => {
    const line = piecesOf('alice', ':', '$apr1$', '$2y$10$', '{SHA}', '\n', '#', '=', 'x'.repeat(53))
    fc.assert(
      fc.property(line, (text) => {
        const { users, warnings } = parseHtpasswd(text)
        expect(users.size + warnings.length).toBeLessThanOrEqual(text.split('\n').length)
        expect(warnings.join('\n')).not.toContain('alice')
      }),
    )
    fc.assert(fc.property(fc.json(), (text) => void parseKeySet(text)))
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (keys) => {
        expect(parseKeySet(JSON.stringify({ keys })).keys).toEqual([])
      }),
    )
  })
})

describe('tokens', () => {
  it('any text is rejected at once, without a check of the signature', () => {
    const verifier = new JwtVerifier([])
    const segment = fc.oneof(
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.string({ maxLength: 8 }),
    )
    const token = fc.array(segment, { maxLength: 4 }).map((parts) => parts.join('.'))
    fc.assert(
      fc.property(token, (text) => {
        expect(verifier.verify(text)).toMatch(/^(malformed token|unknown key)$/)
      }),
    )
  })
})
