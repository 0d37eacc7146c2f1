// Signing requests, as openssl reads them.
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { publicKeyOf } from './authority.testing.ts'
import { signingRequest } from './csr.ts'

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })

describe('signingRequest', () => {
  it.each([
    ['a short id', 'spiffe://cluster.local/ns/apps/sa/web'],
    ['an id of 128 characters and more', `spiffe://cluster.local/ns/${'a'.repeat(63)}/sa/${'b'.repeat(63)}`],
    ['an id of 256 characters and more', `spiffe://${'d.'.repeat(126)}d/ns/${'a'.repeat(63)}/sa/${'b'.repeat(253)}`],
  ])('has %s as the only, critical name, and a valid signature', (_, id) => {
    const csr = signingRequest(id, pair)
    expect(publicKeyOf(csr)).toBe(pair.publicKey.export({ type: 'spki', format: 'pem' }).toString())
    const text = execFileSync('openssl', ['req', '-noout', '-text', '-subject'], { input: csr, stdio: 'pipe' })
    const lines = text.toString()
    expect(lines).toContain(`URI:${id}\n`)
    expect(lines).toContain('X509v3 Subject Alternative Name: critical')
    expect(lines).toContain('ASN1 OID: prime256v1')
    expect(lines).toMatch(/Subject:\s*\n/)
    expect(lines).toContain('Version: 1 (0x0)')
  })
})
