import { describe, expect, it } from 'vitest'
import { parseHtpasswd, type HashKind } from './htpasswd.ts'
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

describe('parseHtpasswd', () => {
  const HASH = '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='

  it('takes lines of both kinds of systems, comments and empty lines', () => {
    const { users, warnings } = parseHtpasswd(`# staff\r\n\r\nalice:${HASH}\r\n  bob:${HASH}  \n`)
    expect([[...users.keys()], warnings]).toEqual([['alice', 'bob'], []])
  })

  it('the last line of a user counts', () => {
    const { users } = parseHtpasswd(`alice:${HASH}\nalice:abJnggxhB/yWI`)
    expect(users.get('alice')).toEqual({ kind: 'crypt', text: 'abJnggxhB/yWI' })
  })

  it.each([
    ['no colon', 'alice', 'it is not `name:hash`'],
    ['no name', `:${HASH}`, 'it is not `name:hash`'],
    ['plain text', 'alice:secret', 'its hash is not'],
    ['nothing', 'alice:', 'its hash is not'],
    ['SHA-256 crypt', 'alice:$5$abc$0000000000000000000000000000000000000000000', 'its hash is not'],
    ['a salt too long', 'alice:$apr1$123456789$U/wAA8nAvHYO2FFhGEwz5.', 'its hash is not'],
    ['half a bcrypt hash', 'alice:$2y$10$abc', 'its hash is not'],
    ['bcrypt without end', `alice:$2y$31$${'a'.repeat(53)}`, 'the cost of its bcrypt hash is not 4 to 14'],
    ['bcrypt too cheap', `alice:$2y$03$${'a'.repeat(53)}`, 'the cost of its bcrypt hash is not 4 to 14'],
  ])('leaves a line out: %s', (_, line, warning) => {
    const { users, warnings } = parseHtpasswd(`${line}\nbob:${HASH}`)
    expect([...users.keys()]).toEqual(['bob'])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(`line 1 is not used: ${warning}`)
    expect(warnings[0]).not.toContain('alice')
  })
})
