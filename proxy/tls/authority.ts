// Signs certificates of servers with the pair of an authority (RFC 5280). One key is made for all of them: it never
// leaves the process, and to make one for each name would cost more than to sign.
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import type { CertificatePair } from './certificates.ts'
import { der, type DerValue, oid, sequence, TAG, time, values } from './der.ts'

/** Clients' clocks may be behind. */
const BACKDATED_MS = 3_600_000
const LEAF_MS = 24 * 3_600_000
const SERIAL_BYTES = 16
/** X.520, upper bound of a common name. */
const COMMON_NAME_MAX = 64
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const COMMON_NAME = '2.5.4.3'

interface Algorithm {
  readonly hash: string | null
  /** AlgorithmIdentifier. */
  readonly identifier: Buffer
}

export interface SignedPair extends CertificatePair {
  /** When it ends. */
  readonly untilMs: number
}

export class Authority {
  readonly #certificate: X509Certificate
  readonly #pem: string
  readonly #key: KeyObject
  readonly #algorithm: Algorithm
  readonly #leafKey: string
  readonly #leafPublic: Buffer
  readonly #subject: Buffer
  readonly #keyIdentifier: Buffer | undefined

  /** @throws {Error} when the pair is not that of an authority. */
  constructor({ certificate, privateKey }: CertificatePair) {
    this.#pem = certificate
    this.#certificate = new X509Certificate(certificate)
    this.#key = createPrivateKey(privateKey)
    if (!this.#certificate.ca) throw new Error('it is no certificate authority')
    if (!this.#certificate.checkPrivateKey(this.#key)) throw new Error('its private key is another one')
    this.#algorithm = algorithmOf(this.#key)
    const { subject, keyIdentifier } = namesOf(this.#certificate)
    this.#subject = subject
    this.#keyIdentifier = keyIdentifier
    const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#leafKey = leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    this.#leafPublic = leaf.publicKey.export({ type: 'spki', format: 'der' })
  }

  /** `name` in lower case. @throws {Error} when it is no host name, or the authority's time is over. */
  sign(name: string, nowMs: number): SignedPair {
    if (!HOST_NAME.test(name)) throw new Error('no certificate can be signed for such a server name')
    const endMs = Date.parse(this.#certificate.validTo)
    if (nowMs >= endMs) throw new Error('the authority has expired')
    const fromMs = Math.max(nowMs - BACKDATED_MS, Date.parse(this.#certificate.validFrom))
    const untilMs = Math.min(nowMs + LEAF_MS, endMs)
    const subject = name.length > COMMON_NAME_MAX ? sequence() : commonName(name)
    const { hash, identifier } = this.#algorithm
    const content = sequence(
      der(0xa0, der(TAG.integer, Buffer.from([2]))),
      der(TAG.integer, serialNumber()),
      identifier,
      this.#subject,
      sequence(time(fromMs), time(untilMs)),
      subject,
      this.#leafPublic,
      der(0xa3, sequence(...this.#extensions(name, name.length > COMMON_NAME_MAX))),
    )
    const signature = sign(hash, content, this.#key)
    const raw = sequence(content, identifier, der(TAG.bitString, Buffer.from([0]), signature))
    return { certificate: `${pemOf(raw)}${this.#pem}`, privateKey: this.#leafKey, untilMs }
  }

  #extensions(name: string, isOnlyName: boolean): Buffer[] {
    const own = createHash('sha1').update(keyBits(this.#leafPublic)).digest()
    return [
      extension(EXTENSION.basicConstraints, sequence(), true),
      // digitalSignature
      extension(EXTENSION.keyUsage, der(TAG.bitString, Buffer.from([7, 0x80])), true),
      extension(EXTENSION.extendedKeyUsage, sequence(oid(SERVER_AUTH))),
      extension(EXTENSION.subjectAltName, sequence(der(0x82, Buffer.from(name, 'latin1'))), isOnlyName),
      extension(EXTENSION.subjectKeyIdentifier, der(TAG.octetString, own)),
      ...(this.#keyIdentifier === undefined
        ? []
        : [extension(EXTENSION.authorityKeyIdentifier, sequence(der(0x80, this.#keyIdentifier)))]),
    ]
  }
}

/** @throws {Error} for kinds of keys that clients seldom verify. */
function algorithmOf(key: KeyObject): Algorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve = '' } = {} } = key
  if (type === 'rsa') return { hash: 'sha256', identifier: sequence(oid('1.2.840.113549.1.1.11'), der(TAG.null)) }
  if (type === 'ed25519') return { hash: null, identifier: sequence(oid('1.3.101.112')) }
  if (type !== 'ec') throw new Error('its key is not RSA, EC or Ed25519')
  if (namedCurve === 'secp384r1') return { hash: 'sha384', identifier: sequence(oid('1.2.840.10045.4.3.3')) }
  if (namedCurve === 'secp521r1') return { hash: 'sha512', identifier: sequence(oid('1.2.840.10045.4.3.4')) }
  return { hash: 'sha256', identifier: sequence(oid('1.2.840.10045.4.3.2')) }
}

/** What a certificate that it signs has to repeat byte by byte. */
function namesOf({ raw }: X509Certificate): { readonly subject: Buffer; readonly keyIdentifier: Buffer | undefined } {
  const fields = within(within(values(raw)[0])[0])
  // version, serial number, signature, issuer, validity, subject, …
  const subject = fields[fields[0]?.tag === 0xa0 ? 5 : 4]?.whole
  if (subject === undefined) throw new Error('it has no subject')
  const wanted = oid(EXTENSION.subjectKeyIdentifier)
  const extensions = within(within(fields.find(({ tag }) => tag === 0xa3))[0]).map(within)
  const own = extensions.find(([id]) => id?.whole.equals(wanted) === true)
  return { subject, keyIdentifier: within(own?.at(-1))[0]?.content }
}

function within(value: DerValue | undefined): DerValue[] {
  return value === undefined ? [] : values(value.content)
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  const mark = isCritical ? [der(TAG.boolean, Buffer.from([0xff]))] : []
  return sequence(oid(id), ...mark, der(TAG.octetString, value))
}

function commonName(name: string): Buffer {
  return sequence(der(TAG.set, sequence(oid(COMMON_NAME), der(TAG.utf8String, Buffer.from(name, 'latin1')))))
}

/** Positive, and never shorter. */
function serialNumber(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes
}

/** Of SubjectPublicKeyInfo, without the count of unused bits. */
function keyBits(spki: Buffer): Buffer {
  const bits = values(values(spki)[0]?.content ?? spki).at(-1)
  return bits?.content.subarray(1) ?? spki
}

function pemOf(raw: Buffer): string {
  const lines = raw.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
