// Certificates that an authority signs, judged by OpenSSL: that of the machine in its strict mode, and that of node.
import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AsnConvert } from '@peculiar/asn1-schema'
import { Certificate } from '@peculiar/asn1-x509'
import { afterAll, describe, expect, it } from 'vitest'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { Authority } from './authority.ts'

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

const SUBJECT = ['-subj', '/O=Größe/OU=One/CN=Test CA']
const OWN = '[own]\nbasicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=hash\n'

function authorityOf(kind: readonly string[], rest: readonly string[] = ['-days', '2', ...SUBJECT]): KeyPair {
  const [certificate, privateKey] = [join(folder, 'ca.crt'), join(folder, 'ca.key')]
  const usage = ['-utf8', '-addext', 'keyUsage=critical,keyCertSign']
  const args = ['req', '-x509', '-newkey', ...kind, '-nodes', '-batch', '-keyout', privateKey, '-out', certificate]
  execFileSync('openssl', [...args, ...usage, ...rest], { stdio: 'pipe' })
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

  it.each(['utf8only', 'pkix', 'default', 'nombstr'])('repeats the subject of its authority (%s)', (mask) => {
    const config = join(folder, 'ca.cnf')
    writeFileSync(config, `[req]\nstring_mask=${mask}\ndistinguished_name=none\nx509_extensions=own\n[none]\n${OWN}`)
    const subject = '/C=DE/O=Größe/OU=One+L=Łódź/emailAddress=a@b.test/CN=Test CA'
    const value = mask === 'nombstr' ? subject.replace('Łódź', 'Köln') : subject
    const pair = authorityOf(['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], ['-config', config, '-subj', value])
    const { certificate } = new Authority(pair).sign('a.test', NOW)
    expect(verdict(pair.certificate, certificate, 'a.test')).toBe('leaf: OK')
    const name = (pem: string, which: string): string => {
      const args = ['x509', '-noout', which, '-nameopt', 'RFC2253,show_type,dump_der,dump_all']
      return execFileSync('openssl', args, { input: pem, encoding: 'utf8' }).replace(/^.*?=/, '')
    }
    expect(name(certificate, '-issuer')).toBe(name(pair.certificate, '-subject'))
  })

  it('has years of two digits up to 2049, and of four from then on', () => {
    const pair = authorityOf(['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], ['-days', '12000', ...SUBJECT])
    const { certificate } = new Authority(pair).sign('a.test', Date.UTC(2050, 0, 1, 0, 30))
    const shown = execFileSync('openssl', ['asn1parse'], { input: certificate, encoding: 'utf8' })
    expect(shown.match(/(?:UTC|GENERALIZED)TIME *:\w+/g)?.map((time) => time.replaceAll(' ', ''))).toEqual([
      'UTCTIME:491231233000Z',
      'GENERALIZEDTIME:20500102003000Z',
    ])
  })

  it('marks as critical what a client must understand', () => {
    const shown = (name: string): string[] => {
      const { certificate } = new Authority(authority()).sign(name, NOW)
      const text = execFileSync('openssl', ['x509', '-noout', '-text'], { input: certificate, encoding: 'utf8' })
      return [...text.matchAll(/X509v3 ([\w ]+): (critical)?\s+(.*)/g)].map(
        ([, id, mark, value]) =>
          `${id}${mark === undefined ? '' : '!'}: ${value?.replaceAll(/(?:[0-9A-F]{2}:){19}[0-9A-F]{2}/g, 'SHA-1')}`,
      )
    }
    const rest = ['X509v3 Subject Key Identifier: SHA-1', 'X509v3 Authority Key Identifier: SHA-1']
    const long = `${'a'.repeat(60)}.test`
    expect([shown('a.test'), shown(long)]).toEqual(
      ['Subject Alternative Name: DNS:a.test', `Subject Alternative Name!: DNS:${long}`].map((names) => [
        'Basic Constraints!: CA:FALSE',
        'Key Usage!: Digital Signature',
        'Extended Key Usage: TLS Web Server Authentication',
        names,
        ...rest.map((line) => line.replace('X509v3 ', '')),
      ]),
    )
  })

  it('lives no longer than the authority', () => {
    const pair = authority()
    const end = Date.parse(new X509Certificate(pair.certificate).validTo)
    const own = new Authority(pair)
    expect(own.sign('a.test', end - 1000).untilMs).toBe(end)
    expect(() => own.sign('a.test', end)).toThrow('the certificate authority has expired')
  })

  it.each(['', 'a..b', '.a', '*.a.test', 'a b', 'ä.test', 'A.test', `${'a'.repeat(64)}.test`, 'a.'.repeat(127) + 'aa'])(
    'is not signed for %j',
    (name) => expect(() => new Authority(authority()).sign(name, NOW)).toThrow('invalid server name'),
  )
})

describe('an authority', () => {
  it('is one by its certificate, and has its key', () => {
    const leaf = certificateFor({ commonName: 'leaf' })
    expect(() => new Authority(leaf)).toThrow('not a certificate authority')
    expect(() => new Authority({ ...authority(), privateKey: leaf.privateKey })).toThrow(
      'the private key does not match',
    )
    expect(() => new Authority({ certificate: 'x', privateKey: 'y' })).toThrow(/PEM|routines/)
  })

  it('whose subject cannot be repeated byte by byte signs nothing: no chain would hold', () => {
    const pair = authorityOf(['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'])
    const strange = { ...pair, certificate: withLongLength(pair.certificate) }
    expect(new X509Certificate(strange.certificate).subject).toBe(new X509Certificate(pair.certificate).subject)
    expect(() => new Authority(strange)).toThrow('the subject is not valid DER')
  })
})

/** The length of the subject in two bytes, as BER allows and DER does not; the signature is then none. */
function withLongLength(pem: string): string {
  const { raw } = new X509Certificate(pem)
  const whole = contentOf(raw)
  const content = contentOf(whole)
  // Issuer and subject are the same, and the subject comes later.
  const { subject } = AsnConvert.parse(raw, Certificate).tbsCertificate
  const name = Buffer.from(AsnConvert.serialize(subject))
  const at = content.lastIndexOf(name)
  const long = Buffer.concat([Buffer.from([0x30, 0x81]), name.subarray(1)])
  const changed = Buffer.concat([content.subarray(0, at), long, content.subarray(at + name.length)])
  const rest = whole.subarray(4 + content.length)
  const base64 = sequence(Buffer.concat([sequence(changed), rest])).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** Of a sequence of 256 to 65,535 bytes, whose head has four. */
function contentOf(sequenceBytes: Buffer): Buffer {
  return sequenceBytes.subarray(4, 4 + sequenceBytes.readUInt16BE(2))
}

function sequence(content: Buffer): Buffer {
  const head = Buffer.from([0x30, 0x82, 0, 0])
  head.writeUInt16BE(content.length, 2)
  return Buffer.concat([head, content])
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}
