// Client authentication as token endpoints see it, compared with oauth4webapi and verified with jose.
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importSPKI, importX509, jwtVerify } from 'jose'
import { ClientSecretBasic, ClientSecretPost } from 'oauth4webapi'
import { describe, expect, it } from 'vitest'
import type { OAuthClientAuth, OAuthPrivateKeyJwt } from '#api/ir/types.gen.ts'
import { HeaderList } from '../../message/headers.ts'
import { compileClientAuth } from './client-auth.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
const spki = { type: 'spki', format: 'pem' } as const

const SECRETS = new Map([
  ['n/s/secret', 'a b:c&d=é%+~!'],
  ['n/s/rsa', rsa.privateKey.export(pkcs8).toString()],
  ['n/s/pkcs1', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
  ['n/s/weak', weak.privateKey.export(pkcs8).toString()],
  ['n/s/p256', p256.privateKey.export({ type: 'sec1', format: 'pem' }).toString()],
  ['n/s/p384', p384.privateKey.export(pkcs8).toString()],
  ['n/s/text', 'planted-secret'],
])

async function sent(auth: OAuthClientAuth, secrets = SECRETS) {
  const compiled = compileClientAuth(auth, ({ secret }) => secrets.get(secret))
  if ('unusable' in compiled) throw new Error(compiled.unusable)
  const form = new URLSearchParams()
  const headers = new HeaderList()
  await compiled.authenticate(form, headers)
  return { form, authorization: headers.get('authorization'), fingerprint: compiled.fingerprint }
}

function fault(auth: OAuthClientAuth): unknown {
  return compileClientAuth(auth, ({ secret }) => SECRETS.get(secret))
}

const signing = (secret: string, alg: OAuthPrivateKeyJwt['alg'], more: Partial<OAuthPrivateKeyJwt> = {}) =>
  ({
    clientId: 'gateway',
    method: 'PrivateKeyJwt',
    privateKeyJwt: { signingKeyRef: { secret }, alg, assertionAudience: 'https://as.test/token', ...more },
  }) as const

describe('compileClientAuth', () => {
  const clientId = 'my client:1'
  const secretRef = { secret: 'n/s/secret' }
  const given = SECRETS.get('n/s/secret') ?? ''
  const server = { issuer: 'https://as.test' }

  it('sends the same as oauth4webapi for ClientSecretBasic, after decoding', async () => {
    const { form, authorization } = await sent({ clientId, method: 'ClientSecretBasic', secretRef })
    const theirs = new Headers()
    await ClientSecretBasic(given)(server, { client_id: clientId }, new URLSearchParams(), theirs)
    const decoded = (value: string | null | undefined) =>
      Buffer.from((value ?? '').slice('Basic '.length), 'base64')
        .toString()
        .split(':')
        .map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
    expect(decoded(authorization)).toEqual([clientId, given])
    expect(decoded(authorization)).toEqual(decoded(theirs.get('authorization')))
    expect(form.toString()).toBe('')
  })

  it('sends the same as oauth4webapi for ClientSecretPost', async () => {
    const { form, authorization } = await sent({ clientId, method: 'ClientSecretPost', secretRef })
    const theirs = new URLSearchParams()
    await ClientSecretPost(given)(server, { client_id: clientId }, theirs, new Headers())
    expect(form.toString()).toBe(theirs.toString())
    expect(authorization).toBeUndefined()
  })

  it('sends the identifier alone for ClientSecretPost without a secret', async () => {
    const { form } = await sent({ clientId: 'public', method: 'ClientSecretPost' })
    expect(form.toString()).toBe('client_id=public')
  })

  it('sends nothing without a client', async () => {
    const compiled = compileClientAuth(undefined, () => undefined)
    expect(compiled).toHaveProperty('fingerprint')
  })

  it('changes the fingerprint with the secret, and does not show the secret in it', async () => {
    const auth = { clientId, method: 'ClientSecretPost', secretRef } as const
    const first = await sent(auth)
    const second = await sent(auth, new Map([['n/s/secret', 'rotated']]))
    expect(first.fingerprint).toMatch(/^[\da-f]{64}$/)
    expect(first.fingerprint).not.toBe(second.fingerprint)
    expect((await sent(auth)).fingerprint).toBe(first.fingerprint)
  })

  it.each([
    ['RS256', 'n/s/rsa', rsa],
    ['RS384', 'n/s/pkcs1', rsa],
    ['RS512', 'n/s/rsa', rsa],
    ['PS256', 'n/s/rsa', rsa],
    ['ES256', 'n/s/p256', p256],
    ['ES384', 'n/s/p384', p384],
  ] as const)('signs an assertion with %s that jose verifies', async (alg, secret, { publicKey }) => {
    const auth = signing(secret, alg, { kid: 'k1' })
    const { form } = await sent(auth)
    expect(form.get('client_id')).toBe('gateway')
    expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    const key = await importSPKI(publicKey.export(spki).toString(), alg)
    const { payload, protectedHeader } = await jwtVerify(form.get('client_assertion') ?? '', key, {
      issuer: 'gateway',
      subject: 'gateway',
      audience: 'https://as.test/token',
    })
    expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: 'k1' })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(310)
    expect(Math.abs((payload.iat ?? 0) + 10 - Date.now() / 1000)).toBeLessThan(5)
    const again = await sent(auth)
    expect(again.form.get('client_assertion')).not.toBe(form.get('client_assertion'))
  })

  it('carries the certificate of the key as x5c or as its thumbprint', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'client-auth-'))
    try {
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
      const args = [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        '/CN=gateway',
        '-keyout',
        key,
        '-out',
        cert,
      ]
      execFileSync('openssl', args, { stdio: 'ignore' })
      const pem = readFileSync(cert, 'utf8')
      const secrets = new Map([...SECRETS, ['n/s/own', readFileSync(key, 'utf8')], ['n/s/cert', pem]])
      const certificateRef = { secret: 'n/s/cert' }
      const x5c = await sent(signing('n/s/own', 'RS256', { certificateRef, certificateHeader: 'x5c' }), secrets)
      const publicKey = await importX509(pem, 'RS256')
      const first = await jwtVerify(x5c.form.get('client_assertion') ?? '', publicKey)
      expect(first.protectedHeader['x5c']).toEqual([new X509Certificate(pem).raw.toString('base64')])
      const x5t = await sent(signing('n/s/own', 'RS256', { certificateRef, certificateHeader: 'x5t#S256' }), secrets)
      const second = await jwtVerify(x5t.form.get('client_assertion') ?? '', publicKey)
      const thumbprint = new X509Certificate(pem).fingerprint256.replaceAll(':', '')
      expect(second.protectedHeader['x5t#S256']).toBe(Buffer.from(thumbprint, 'hex').toString('base64url'))
      const other = signing('n/s/rsa', 'RS256', { certificateRef, certificateHeader: 'x5c' })
      expect(compileClientAuth(other, ({ secret }) => secrets.get(secret))).toEqual({
        unusable: 'secret n/s/rsa: the certificate is not that of the signing key',
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it.each([
    [
      'a missing secret',
      { clientId, method: 'ClientSecretBasic', secretRef: { secret: 'n/s/no' } },
      'secret n/s/no is missing',
    ],
    ['no secret', { clientId, method: 'ClientSecretBasic' }, 'method ClientSecretBasic has no client secret'],
    ['no key', { clientId, method: 'PrivateKeyJwt' }, 'method PrivateKeyJwt has no key'],
    ['a missing key', signing('n/s/no', 'RS256'), 'secret n/s/no is missing'],
    [
      'a missing certificate',
      signing('n/s/rsa', 'RS256', { certificateRef: { secret: 'n/s/no' } }),
      'secret n/s/no is missing',
    ],
    ['text', signing('n/s/text', 'RS256'), 'secret n/s/text: not an unencrypted private key in PEM'],
    ['a short key', signing('n/s/weak', 'RS256'), 'secret n/s/weak: the RSA key is shorter than 2048 bits'],
    ['an EC key for RSA', signing('n/s/p256', 'PS256'), 'secret n/s/p256: PS256 requires an RSA key'],
    ['an RSA key for EC', signing('n/s/rsa', 'ES256'), 'secret n/s/rsa: ES256 requires an EC key on prime256v1'],
    ['another curve', signing('n/s/p256', 'ES384'), 'secret n/s/p256: ES384 requires an EC key on secp384r1'],
  ] as const)('reports %s without its value', (_, auth, unusable) => {
    expect(fault(auth)).toEqual({ unusable })
  })
})
