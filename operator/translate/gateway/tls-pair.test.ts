// Certificates of Secrets: what is taken, and what each fault says. No message may hold what the Secret holds.
import { describe, expect, it } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import type { Secret } from '../kube.ts'
import { isCertificateBundle, tlsPair } from './tls-pair.ts'

const one = certificateFor({ commonName: 'one', names: ['DNS:one.test'] })
const two = certificateFor({ commonName: 'two', names: ['DNS:two.test'] })

function secretOf(certificate: string | undefined, key: string | undefined): Secret {
  const encoded = (text: string): string => Buffer.from(text).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'ns' },
    data: {
      ...(certificate !== undefined && { 'tls.crt': encoded(certificate) }),
      ...(key !== undefined && { 'tls.key': encoded(key) }),
    },
  }
}

describe('tlsPair', () => {
  it('accepts a certificate, or a chain with the leaf first, and its key', () => {
    const chain = one.certificate + two.certificate
    expect(tlsPair(secretOf(one.certificate, one.privateKey))).toEqual({ pair: one })
    expect(tlsPair(secretOf(chain, one.privateKey))).toEqual({ pair: { ...one, certificate: chain } })
  })

  it.each([
    ['no certificate', undefined, one.privateKey, 'has no PEM certificate under tls.crt'],
    ['no key', one.certificate, undefined, 'has no PEM private key under tls.key'],
    ['a key of another certificate', one.certificate, two.privateKey, 'does not match the certificate'],
    ['the leaf behind another certificate', two.certificate + one.certificate, one.privateKey, 'does not match'],
    ['a cut certificate', one.certificate.replace(/[A-Za-z0-9+/=]{40}/, ''), one.privateKey, 'no valid certificate'],
    ['a cut key', one.certificate, one.privateKey.replace(/[A-Za-z0-9+/=]{40}/, ''), 'no usable private key'],
  ])('rejects %s', (_title, certificate, key, message) => {
    const outcome = tlsPair(secretOf(certificate, key))
    expect(outcome).toEqual({ fault: expect.stringContaining(message) as string })
    expect(JSON.stringify(outcome)).not.toMatch(/BEGIN|MI[A-Z]/)
  })
})

describe('isCertificateBundle', () => {
  it.each([
    [one.certificate, true],
    [`# comment\n${one.certificate}\n${two.certificate}`, true],
    ['', false],
    ['-----BEGIN CERTIFICATE-----', false],
    ['-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----', false],
    [`${one.certificate}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----`, false],
  ])('case %#', (text, expected) => {
    expect(isCertificateBundle(text)).toBe(expected)
  })
})
