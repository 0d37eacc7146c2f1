// Names of certificates: how node writes them, and which of them a wanted name meets.
import { describe, expect, it } from 'vitest'
import { bearsOneOf, subjectAltNames } from '#api/tls/subject-alt-names.ts'
import { certificateFor } from '#test/certificates.ts'
import { X509Certificate } from 'node:crypto'
import { PeerCertificate } from '../socket/peer.ts'

describe('subjectAltNames', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['DNS:a.test', [['DNS', 'a.test']]],
    [
      'DNS:a.test, IP Address:10.0.0.1, URI:spiffe://td/x',
      [
        ['DNS', 'a.test'],
        ['IP Address', '10.0.0.1'],
        ['URI', 'spiffe://td/x'],
      ],
    ],
    [
      'IP Address:2001:DB8:0:0:0:0:0:1, email:a@b.test',
      [
        ['IP Address', '2001:DB8:0:0:0:0:0:1'],
        ['email', 'a@b.test'],
      ],
    ],
    // A value that holds the separator is quoted: it must not become a name of its own.
    [
      'URI:"https://a.test/, DNS:evil.test", DNS:b.test',
      [
        ['URI', 'https://a.test/, DNS:evil.test'],
        ['DNS', 'b.test'],
      ],
    ],
    ['DNS:"a.test\\u0000, DNS:evil.test"', [['DNS', 'a.test\0, DNS:evil.test']]],
    ['othername:<unsupported>, DNS:b.test', [['DNS', 'b.test']]],
  ] as const)('%s', (text, expected) => {
    expect(subjectAltNames(text).map(({ type, value }) => [type, value])).toEqual(expected)
  })
})

describe('bearsOneOf', () => {
  it.each([
    ['DNS:a.test', 'A.test', true],
    ['DNS:*.test', 'a.test', true],
    ['DNS:*.test', 'a.b.test', false],
    ['DNS:*.test', 'test', false],
    ['DNS:a.test', 'b.test', false],
    ['DNS:10.0.0.1', '10.0.0.1', false],
    ['IP Address:10.0.0.1', '10.0.0.1', true],
    ['URI:spiffe://td/x', 'spiffe://td/x', true],
    ['URI:spiffe://td/x', 'spiffe://td/X', false],
    ['email:a.test', 'a.test', false],
  ])('%s meets %s: %s', (names, wanted, expected) => {
    expect(bearsOneOf(subjectAltNames(names), ['other.example', wanted])).toBe(expected)
  })
})

describe('PeerCertificate', () => {
  const of = (names: readonly string[]): PeerCertificate =>
    new PeerCertificate(new X509Certificate(certificateFor({ commonName: 'c', names }).certificate))

  it('knows an identity only from one SPIFFE id of that form', () => {
    expect(of(['URI:spiffe://td/ns/a/sa/b']).identity).toEqual({
      trustDomain: 'td',
      namespace: 'a',
      serviceAccount: 'b',
    })
    expect(of(['URI:spiffe://td/other']).identity).toBeUndefined()
    const two = of(['URI:spiffe://td/ns/a/sa/b', 'URI:spiffe://td/ns/c/sa/d'])
    expect([two.spiffeId, two.identity]).toEqual([undefined, undefined])
  })
})
