import { describe, expect, it } from 'vitest'
import { parseHtpasswd, type HashKind } from '#api/credentials/htpasswd.ts'
import { isPasswordOf } from './password-hash.ts'

/** Created by openssl and crypt(3), and published test vectors of bcrypt and of the SHA kinds of crypt. */
const HASHES: readonly (readonly [HashKind, string, string])[] = [
  ['md5', 'password', '$apr1$r31cxUZH$U/wAA8nAvHYO2FFhGEwz5.'],
  ['md5', 'schön', '$apr1$ab$sxbbDsyDr2P5qLhmJpJtv/'],
  ['md5', 'a-password-of-more-than-sixteen-characters', '$apr1$12345678$UNWYxcaIbPncdg3SEgs.A1'],
  ['md5', 'password', '$1$abc$BXBqpb9BZcZhXLgbee.0s/'],
  ['crypt', 'password', 'abJnggxhB/yWI'],
  ['crypt', 'schön', './ZUxXndU1Y2Q'],
  ['shaCrypt', 'Hello world!', '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5'],
  ['shaCrypt', 'Hello world!', '$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA'],
  ['shaCrypt', 'schön', '$5$ab$5n8XGv/L4u2gIlQX94CNozM1iZim/3FICBYarO6h7e9'],
  ['shaCrypt', 'p'.repeat(32), '$5$ab$p4.3WrAMvaslkGWAdJrPdEX/EfEAXqiXe0ge/w5WoJD'],
  ['shaCrypt', 'p'.repeat(64), '$5$ab$0AJ25fZ2Nx0SIhfG.uwsVMwx7/HUtSVuLadEyCK9bE3'],
  [
    'shaCrypt',
    'Hello world!',
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
  ],
  [
    'shaCrypt',
    'Hello world!',
    '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
  ],
  [
    'shaCrypt',
    'p'.repeat(32),
    '$6$ab$cA3UdQKiCmIZbRPdQptse0E6C0p6G0mbVHU9Nuu48HLHGLOQ56AoeOV66zTgY1j3Zvp7ot7o4AMlNqXpY8AVt/',
  ],
  [
    'shaCrypt',
    'p'.repeat(64),
    '$6$ab$mubDeko5Z.I2hT4..3twEeAwHMV9MxObp56dxHK3X4Zh2az6uFGvaDpOIAIYapPSLnGUJZBiZmn1Jk3MRAFIt.',
  ],
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
  // Created by crypt(3), which repeats the bug behind such hashes.
  const text = '$2x$04$abcdefghijklmnopqrstuuBOZSChTTFVaI4YD52.BZrLoxgxAyQiS'
  expect(isPasswordOf('schön', { kind: 'bcrypt', text })).toBe(false)
})
