// Certificates and keys of standalone files that are invalid, or do not match.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadStandalone } from '../load.ts'

const TESTDATA = join(import.meta.dirname, '..', 'testdata')
const CERTIFICATE = join(TESTDATA, 'certificate.pem')
const KEY = join(TESTDATA, 'key.pem')
const folder = mkdtempSync(join(tmpdir(), 'gw-key-pair-'))

afterAll(() => rmSync(folder, { recursive: true }))

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const OTHER = file('other.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }))
const LOCKED = file(
  'locked.pem',
  privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }),
)
const BROKEN = file('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
const CASES: readonly (readonly [string, string, string])[] = [
  [CERTIFICATE, OTHER, 'key: the private key does not match the certificate in cert; set the key of this certificate'],
  [CERTIFICATE, LOCKED, 'key: the file contains no usable private key; keys must not be encrypted'],
  [CERTIFICATE, CERTIFICATE, 'key: the file contains no PEM private key'],
  [KEY, KEY, 'cert: the file contains no PEM certificate'],
  [BROKEN, KEY, 'cert: the file contains no valid certificate'],
  [join(folder, 'absent'), KEY, `cert: ${join(folder, 'absent')} cannot be read: it does not exist`],
]

describe('a certificate and a key that cannot be used together are an error', () => {
  it.each(CASES)('of a gateway: %s, %s', (cert, key, expected) => {
    const pair = `{ cert: ${cert}, key: ${key} }`
    expect(errorsOf(`gateways: { default: { port: 1, protocol: HTTPS, tls: ${pair} } }`)).toEqual([
      expect.stringContaining(`gateways.default.tls.${expected}`),
    ])
  })

  it.each(CASES)('of a backend: %s, %s', (cert, key, expected) => {
    const backend = `{ host: "a:1", policies: { backendTLS: { cert: ${cert}, key: ${key} } } }`
    expect(errorsOf(`gateways: { default: { port: 1 } }\nroutes: [{ backends: [${backend}] }]`)).toEqual([
      expect.stringContaining(`backendTLS.${expected}`),
    ])
  })

  it('and a matching pair is accepted', () => {
    const pair = `{ cert: ${CERTIFICATE}, key: ${KEY} }`
    expect(errorsOf(`gateways: { default: { port: 1, protocol: HTTPS, tls: ${pair} } }`)).toEqual([])
  })
})

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function errorsOf(text: string): string[] {
  return loadStandalone({ path: join(folder, 'f.yaml'), text, environment: {} }).problems.map(
    ({ path, message }) => `${path}: ${message}`,
  )
}
