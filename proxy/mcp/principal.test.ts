// Which identities are the same client, and which are different ones.
import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { SecretString } from '#api/cel/values/secret-string.ts'
import { authority, certificateFor } from '#test/certificates.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { setAttribute } from '../chain/attributes.ts'
import { PeerCertificate } from '../socket/peer.ts'
import { principalOf } from './principal.ts'

interface Client {
  readonly jwt?: Record<string, unknown>
  readonly apiKey?: Record<string, unknown>
  readonly basicAuth?: Record<string, unknown>
  readonly peer?: PeerCertificate
}

function principal({ peer, ...attributes }: Client): string {
  const exchange = exchangeOf()
  for (const [name, value] of Object.entries(attributes)) setAttribute(exchange, name as 'jwt', value)
  if (peer !== undefined) Object.assign(exchange.connection, { peer })
  return principalOf(exchange)
}

const key = (text: string) => ({ name: 'same', key: new SecretString(text) })
const token = (claims: object, text = 't') => ({ iss: 'https://i', ...claims, rawToken: new SecretString(text) })
const ca = authority()
const certificate = (name: string, spiffe?: string): PeerCertificate => {
  const names = [`DNS:${name}`, ...(spiffe === undefined ? [] : [`URI:${spiffe}`])]
  return new PeerCertificate(new X509Certificate(certificateFor({ commonName: name, names, issuer: ca }).certificate))
}

describe('principalOf', () => {
  it.each<[string, Client, Client]>([
    ['no identity', {}, {}],
    [
      'a token that was refreshed',
      { jwt: token({ sub: 'ann', exp: 1n }, 'a') },
      { jwt: token({ sub: 'ann', exp: 2n }, 'b') },
    ],
    ['an API key', { apiKey: key('k') }, { apiKey: key('k') }],
    ['a user', { basicAuth: { username: 'ann' } }, { basicAuth: { username: 'ann' } }],
    ['a certificate that was renewed', { peer: certificate('ann') }, { peer: certificate('ann') }],
    ['numbers as subjects', { jwt: token({ sub: 7n }) }, { jwt: token({ sub: 7n }) }],
  ])('is the same for %s', (_, one, other) => {
    expect(principal(one)).toBe(principal(other))
  })

  it.each<[string, Client, Client]>([
    ['a user', {}, { basicAuth: { username: 'ann' } }],
    ['another subject', { jwt: token({ sub: 'ann' }) }, { jwt: token({ sub: 'bob' }) }],
    ['another issuer', { jwt: token({ sub: 'ann' }) }, { jwt: token({ sub: 'ann', iss: 'https://j' }) }],
    ['another program', { jwt: token({ client_id: 'a' }) }, { jwt: token({ client_id: 'b' }) }],
    ['another token without a subject', { jwt: token({}, 'a') }, { jwt: token({}, 'b') }],
    ['another API key', { apiKey: key('k') }, { apiKey: key('l') }],
    ['another user', { basicAuth: { username: 'ann' } }, { basicAuth: { username: 'bob' } }],
    ['another certificate', { peer: certificate('ann') }, { peer: certificate('bob') }],
    ['another workload', { peer: certificate('a', 'spiffe://t/a') }, { peer: certificate('a', 'spiffe://t/b') }],
    ['a second identity', { apiKey: key('k') }, { apiKey: key('k'), basicAuth: { username: 'ann' } }],
  ])('is different for %s', (_, one, other) => {
    expect(principal(one)).not.toBe(principal(other))
  })
})
