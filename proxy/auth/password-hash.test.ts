import { describe, expect, it } from 'vitest'
import { parseHtpasswd, type HashKind } from '#api/htpasswd.ts'
import { isPasswordOf } from './password-hash.ts'

/** Made by openssl, by crypt(3), and one published test vector of bcrypt. */
const HASHES: readonly (readonly [HashKind, string, string])[] = [
  ['md5', 'password', '$apr1$r31cxUZH$U/wAA8nAvHYO2FFhGEwz5.'],
  ['md5', 'schön', '$apr1$ab$sxbbDsyDr2P5qLhmJpJtv/'],
  ['md5', 'a-password-of-more-than-sixteen-characters', '$apr1$12345678$UNWYxcaIbPncdg3SEgs.A1'],
  ['md5', 'password', '$1$abc$BXBqpb9BZcZhXLgbee.0s/'],
  ['crypt', 'password', 'abJnggxhB/yWI'],
  ['crypt', 'schön', './ZUxXndU1Y2Q'],
  ['sha1', 'password', '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='],
  ['bcrypt', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['bcrypt', 'password', '$2y$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm'],
  ['bcrypt', 'schön', '$2y$04$abcdefghijklmnopqrstuuSwG6ioJjPB8SaBmj.asbxU5PaSko1H2'],
  ['bcrypt', 'password', '$2b$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm'],
  ['bcrypt', 'password', '$2x$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm'],
]

describe('hashes', () => {
  it.each(HASHES)('%s of %s: %s', (kind, password, text) => {
    const { users, warnings } = parseHtpasswd(`alice:${text}`)
    expect(warnings).toEqual([])
    const hash = users.get('alice')
    expect(hash).toEqual({ kind, text })
    if (hash === undefined) return
    expect(isPasswordOf(password, hash)).toBe(true)
    for (const wrong of ['', `${password}x`.slice(1), password.slice(1), 'Password']) {
      expect([wrong, isPasswordOf(wrong, hash)]).toEqual([wrong, false])
    }
  })
})

it('a $2x$ hash of text beyond ASCII matches nothing', () => {
  // Made by crypt(3), which repeats the mistake that such hashes were made with.
  const text = '$2x$04$abcdefghijklmnopqrstuuBOZSChTTFVaI4YD52.BZrLoxgxAyQiS'
  expect(isPasswordOf('schön', { kind: 'bcrypt', text })).toBe(false)
})
