// Certificates that an authority signs, judged by OpenSSL: that of the machine in its strict mode, and that of node.
import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { Authority } from './authority.ts'
import { der, time, values } from './der.ts'

const folder = mkdtempSync(join(tmpdir(), 'gw-authority-'))
afterAll(() => rmSync(folder, { recursive: true }))

const NOW = Date.now()
const HOUR_MS = 3_600_000
const KINDS: readonly (readonly [string, readonly string[]])[] = [
  ['RSA', ['rsa:2048']],
  ['EC P-256', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
  ['EC P-384', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384']],
  ['EC P-521', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-521']],
  ['Ed25519', ['ed25519']],
]

function authorityOf(kind: readonly string[]): KeyPair {
  const [certificate, privateKey] = [join(folder, 'ca.crt'), join(folder, 'ca.key')]
  const subject = ['-subj', '/O=Größe/OU=One/CN=Test CA', '-utf8', '-days', '2']
  const usage = ['-addext', 'keyUsage=critical,keyCertSign']
  const args = ['req', '-x509', '-newkey', ...kind, '-nodes', '-batch', '-keyout', privateKey, '-out', certificate]
  execFileSync('openssl', [...args, ...subject, ...usage], { stdio: 'pipe' })
  const read = (file: string): string => execFileSync('cat', [file], { encoding: 'utf8' })
  return { certificate: read(certificate), privateKey: read(privateKey) }
}

function verdict(ca: string, leaf: string, name: string, mode = ['-x509_strict']): string {
  const files = [join(folder, 'root.pem'), join(folder, 'leaf.pem')] as const
  writeFileSync(files[0], ca)
  writeFileSync(files[1], leaf)
  const args = ['verify', ...mode, '-purpose', 'sslserver', '-verify_hostname', name]
  const { stdout, stderr } = spawnSync('openssl', [...args, '-CAfile', files[0], files[1]], { encoding: 'utf8' })
  return `${stdout}${stderr}`.replaceAll(files[1], 'leaf').trim()
}

describe('a certificate', () => {
  it.each(KINDS)('signed by %s is valid for its name, and for no other', (_, kind) => {
    const pair = authorityOf(kind)
    const { certificate, privateKey, untilMs } = new Authority(pair).sign('a.example.com', NOW)
    expect(verdict(pair.certificate, certificate, 'a.example.com')).toBe('leaf: OK')
    expect(verdict(pair.certificate, certificate, 'b.example.com')).toMatch(/hostname mismatch/i)
    const leaf = new X509Certificate(certificate)
    expect(leaf.checkPrivateKey(createPrivateKey(privateKey))).toBe(true)
    expect([leaf.ca, leaf.subject, leaf.subjectAltName]).toEqual([false, 'CN=a.example.com', 'DNS:a.example.com'])
    expect([Date.parse(leaf.validFrom), Date.parse(leaf.validTo), untilMs]).toEqual([
      Math.max(seconds(NOW - HOUR_MS), Date.parse(new X509Certificate(pair.certificate).validFrom)),
      seconds(NOW + 24 * HOUR_MS),
      NOW + 24 * HOUR_MS,
    ])
    expect(certificate.endsWith(pair.certificate)).toBe(true)
  })

  it('is one of its own each time, with the same key', () => {
    const own = new Authority(authority())
    const [one, two] = [own.sign('a.test', NOW), own.sign('a.test', NOW)]
    expect(one.privateKey).toBe(two.privateKey)
    expect(new X509Certificate(one.certificate).serialNumber).not.toBe(
      new X509Certificate(two.certificate).serialNumber,
    )
  })

  it('of a long name has it beside an empty subject', () => {
    const pair = authorityOf(['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'])
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.example.com`
    const { certificate } = new Authority(pair).sign(name, NOW)
    expect(verdict(pair.certificate, certificate, name)).toBe('leaf: OK')
    expect(new X509Certificate(certificate).subject).toBeUndefined()
  })

  it('of an authority below another one is verified by the chain', () => {
    const root = authority('Root')
    const middle = certificateFor({ commonName: 'Middle', isAuthority: true, issuer: root })
    const { certificate } = new Authority(middle).sign('a.test', NOW)
    expect(certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
    // Authorities of tests do not say what their key is for, which the strict mode asks.
    const chain = `${root.certificate}${middle.certificate}`
    expect(verdict(chain, certificate, 'a.test', ['-partial_chain'])).toBe('leaf: OK')
  })

  it('lives no longer than the authority', () => {
    const pair = authority()
    const end = Date.parse(new X509Certificate(pair.certificate).validTo)
    const own = new Authority(pair)
    expect(own.sign('a.test', end - 1000).untilMs).toBe(end)
    expect(() => own.sign('a.test', end)).toThrow('the authority has expired')
  })

  it.each(['', 'a..b', '.a', '*.a.test', 'a b', 'ä.test', 'A.test', `${'a'.repeat(64)}.test`, 'a.'.repeat(127) + 'aa'])(
    'is not signed for %j',
    (name) => expect(() => new Authority(authority()).sign(name, NOW)).toThrow('such a server name'),
  )
})

describe('an authority', () => {
  it('is one by its certificate, and has its key', () => {
    const leaf = certificateFor({ commonName: 'leaf' })
    expect(() => new Authority(leaf)).toThrow('no certificate authority')
    expect(() => new Authority({ ...authority(), privateKey: leaf.privateKey })).toThrow('its private key')
    expect(() => new Authority({ certificate: 'x', privateKey: 'y' })).toThrow(/PEM|routines/)
  })
})

describe('DER', () => {
  it('reads what it writes', () => {
    const property = fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array())), (all) => {
      const written = Buffer.concat(all.map(([tag, content]) => der(tag, content)))
      expect(values(written).map(({ tag, content }) => [tag, [...content]])).toEqual(
        all.map(([tag, content]) => [tag, [...content]]),
      )
    })
    fc.assert(property, { numRuns: 200 })
    for (const size of [127, 128, 255, 256, 65_535, 65_536]) {
      expect(values(der(4, Buffer.alloc(size)))[0]?.content).toHaveLength(size)
    }
    expect(() => values(Buffer.from([4, 5, 1]))).toThrow('longer')
  })

  it('writes years with two digits up to 2049', () => {
    expect(time(Date.UTC(2049, 11, 31, 23, 59, 59)).toString('latin1', 2)).toBe('491231235959Z')
    expect(time(Date.UTC(2050, 0, 1)).toString('latin1', 2)).toBe('20500101000000Z')
  })
})

function seconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}
