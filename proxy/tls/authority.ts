// Signs certificates of servers with the pair of an authority (RFC 5280). One key is made for all of them: it never
// leaves the process, and to make one for each name would cost more than to sign. Imported by `signing.ts` alone, when
// it is needed: the library of certificates takes memory and time.
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'
import type { CertificatePair } from './certificates.ts'

/** Clients' clocks may be behind. */
const BACKDATED_MS = 3_600_000
const LEAF_MS = 24 * 3_600_000
const SERIAL_BYTES = 16
/** X.520, upper bound of a common name. */
const COMMON_NAME_MAX = 64
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/
const COMMON_NAME = '2.5.4.3'

interface Algorithm {
  readonly hash: string | null
  readonly identifier: AlgorithmIdentifier
}

interface AuthorityNames {
  readonly subject: Name
  readonly keyIdentifier: SubjectKeyIdentifier | undefined
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
  readonly #leafPublic: SubjectPublicKeyInfo
  readonly #names: AuthorityNames

  /** @throws {Error} when the pair is not that of an authority. */
  constructor({ certificate, privateKey }: CertificatePair) {
    this.#pem = certificate
    this.#certificate = new X509Certificate(certificate)
    this.#key = createPrivateKey(privateKey)
    if (!this.#certificate.ca) throw new Error('the certificate is not a certificate authority')
    if (!this.#certificate.checkPrivateKey(this.#key)) throw new Error('the private key does not match the certificate')
    this.#algorithm = algorithmOf(this.#key)
    this.#names = namesOf(this.#certificate)
    const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#leafKey = leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    this.#leafPublic = AsnConvert.parse(leaf.publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo)
  }

  /** `name` in lower case. @throws {Error} when it is no host name, or the authority's time is over. */
  sign(name: string, nowMs: number): SignedPair {
    if (!HOST_NAME.test(name)) throw new Error('invalid server name: no certificate can be signed for it')
    const endMs = Date.parse(this.#certificate.validTo)
    if (nowMs >= endMs) throw new Error('the certificate authority has expired')
    const fromMs = Math.max(nowMs - BACKDATED_MS, Date.parse(this.#certificate.validFrom))
    const untilMs = Math.min(nowMs + LEAF_MS, endMs)
    const isOnlyName = name.length > COMMON_NAME_MAX
    const { hash, identifier } = this.#algorithm
    const content = new TBSCertificate({
      version: Version.v3,
      serialNumber: serialNumber(),
      signature: identifier,
      issuer: this.#names.subject,
      validity: new Validity({ notBefore: new Date(fromMs), notAfter: new Date(untilMs) }),
      subject: isOnlyName ? new Name() : commonName(name),
      subjectPublicKeyInfo: this.#leafPublic,
      extensions: this.#extensions(name, isOnlyName),
    })
    const signature = sign(hash, Buffer.from(AsnConvert.serialize(content)), this.#key)
    const raw = AsnConvert.serialize(
      new Certificate({
        tbsCertificate: content,
        signatureAlgorithm: identifier,
        signatureValue: Uint8Array.from(signature).buffer,
      }),
    )
    const pem = new X509Certificate(Buffer.from(raw)).toString()
    return { certificate: `${pem}${this.#pem}`, privateKey: this.#leafKey, untilMs }
  }

  #extensions(name: string, isOnlyName: boolean): Extensions {
    const own = createHash('sha1').update(Buffer.from(this.#leafPublic.subjectPublicKey)).digest()
    const { keyIdentifier } = this.#names
    const extensions = [
      extension(id_ce_basicConstraints, new BasicConstraints(), true),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_subjectAltName, new SubjectAlternativeName([new GeneralName({ dNSName: name })]), isOnlyName),
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(own)),
    ]
    if (keyIdentifier !== undefined) {
      extensions.push(extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier })))
    }
    return new Extensions(extensions)
  }
}

/** @throws {Error} for kinds of keys that clients seldom verify. */
function algorithmOf(key: KeyObject): Algorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve = '' } = {} } = key
  if (type === 'rsa') return algorithm('sha256', '1.2.840.113549.1.1.11', { parameters: null })
  if (type === 'ed25519') return algorithm(null, '1.3.101.112')
  if (type !== 'ec') throw new Error('the key type is not RSA, EC or Ed25519')
  if (namedCurve === 'secp384r1') return algorithm('sha384', '1.2.840.10045.4.3.3')
  if (namedCurve === 'secp521r1') return algorithm('sha512', '1.2.840.10045.4.3.4')
  return algorithm('sha256', '1.2.840.10045.4.3.2')
}

/** `parameters` null is a value of its own (RFC 4055 section 5); without it there are none. */
function algorithm(hash: string | null, id: string, rest: { readonly parameters?: null } = {}): Algorithm {
  return { hash, identifier: new AlgorithmIdentifier({ algorithm: id, ...rest }) }
}

/** What a certificate that it signs has to repeat. @throws {Error} when that is not possible byte by byte. */
function namesOf({ raw }: X509Certificate): AuthorityNames {
  const { subject, subjectPublicKeyInfo, extensions } = AsnConvert.parse(raw, Certificate).tbsCertificate
  // With the key that follows it: the issuer may be the same name, written in another way.
  const written = [subject, subjectPublicKeyInfo].map((part) => Buffer.from(AsnConvert.serialize(part)))
  if (!raw.includes(Buffer.concat(written))) throw new Error('the subject is not valid DER')
  const own = extensions?.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier)
  return { subject, keyIdentifier: own && AsnConvert.parse(own.extnValue, SubjectKeyIdentifier) }
}

function extension(extnID: string, value: object, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) })
}

function commonName(name: string): Name {
  const value = new AttributeValue({ utf8String: name })
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])])
}

/** Positive, and never shorter. */
function serialNumber(): ArrayBuffer {
  const bytes = Uint8Array.from(randomBytes(SERIAL_BYTES))
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.buffer
}
