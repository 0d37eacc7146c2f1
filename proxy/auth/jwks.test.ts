import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseKeySet } from './jwks.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
const shortRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
const p256 = ec('P-256')
const p384 = ec('P-384')
const p521 = ec('P-521')
const ed25519 = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
const secret = { kty: 'oct', k: 'c2VjcmV0LXRoYXQtbXVzdC1uZXZlci12ZXJpZnk' }

const set = (...keys: unknown[]): string => JSON.stringify({ keys })
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']

describe('parseKeySet', () => {
  it.each<[string, object, string[]]>([
    ['RSA', rsa, RSA],
    ['P-256', p256, ['ES256']],
    ['P-384', p384, ['ES384']],
    ['P-521', p521, ['ES512']],
    ['Ed25519', ed25519, ['EdDSA', 'Ed25519']],
    ['RSA with alg', { ...rsa, alg: 'PS384' }, ['PS384']],
    ['a key for signatures', { ...p256, use: 'sig' }, ['ES256']],
    ['a key that verifies', { ...p256, key_ops: ['verify'] }, ['ES256']],
  ])('accepts %s', (_, key, algorithms) => {
    const { keys, warnings } = parseKeySet(set({ ...key, kid: 'k' }))
    expect(keys.map(({ kid, algorithms: own }) => [kid, own])).toEqual([['k', algorithms]])
    expect(warnings).toEqual([])
  })

  it.each<[string, unknown, RegExp]>([
    ['without kid', rsa, /no `kid`/],
    ['with an empty kid', { ...rsa, kid: '' }, /no `kid`/],
    ['symmetric', { ...secret, kid: 'k' }, /only RSA, EC/],
    ['symmetric with an algorithm of RSA', { ...secret, kid: 'k', alg: 'RS256' }, /only RSA, EC/],
    ['P-521 with the algorithm of another curve', { ...p521, kid: 'k', alg: 'ES256' }, /`alg` does not match/],
    ['a curve that no algorithm of RFC 7518 has', { ...ec('secp256k1'), kid: 'k' }, /only RSA, EC/],
    ['short RSA', { ...shortRsa, kid: 'k' }, /2048 bits/],
    ['alg none', { ...rsa, kid: 'k', alg: 'none' }, /`alg` does not match/],
    ['alg HS256', { ...rsa, kid: 'k', alg: 'HS256' }, /`alg` does not match/],
    ['alg of another type', { ...p256, kid: 'k', alg: 'RS256' }, /`alg` does not match/],
    ['half a key', { kty: 'EC', crv: 'P-256', x: p256.x, kid: 'k' }, /are not a valid public key/],
    ['a number', 1, /not an object/],
  ])('ignores a key: %s', (_, key, warning) => {
    const { keys, warnings } = parseKeySet(set(key, { ...p256, kid: 'good' }))
    expect(keys.map(({ kid }) => kid)).toEqual(['good'])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/^key 0 of the key set is not used: /)
    expect(warnings[0]).toMatch(warning)
  })

  it('ignores keys for encryption without a warning', () => {
    const { keys, warnings } = parseKeySet(
      set({ ...rsa, kid: 'a', use: 'enc' }, { ...rsa, kid: 'b', key_ops: ['wrapKey'] }),
    )
    expect([keys, warnings]).toEqual([[], []])
  })

  it('keeps no private members', () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
    const [key] = parseKeySet(set({ ...pair, kid: 'k' })).keys
    expect(key?.key.type).toBe('public')
  })

  it.each(['', '{', '[]', '{"keys": {}}', 'null', '"keys"'])('warns about %j', (text) => {
    expect(parseKeySet(text)).toEqual({ keys: [], warnings: ['the key set is not JSON with a list `keys`'] })
  })

  it('limits the number of keys', () => {
    const many = Array.from({ length: 257 }, (_, i) => ({ ...p256, kid: `k${i}` }))
    const { keys, warnings } = parseKeySet(set(...many))
    expect(keys).toHaveLength(256)
    expect(warnings).toEqual(['only the first 256 keys of the key set are used'])
  })
})
