// A certificate signing request (PKCS #10, RFC 2986) with a SPIFFE id as its only name.
import { type KeyObject, sign } from 'node:crypto'
import { Attributes, CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  Attribute,
  Extension,
  Extensions,
  GeneralName,
  id_ce_subjectAltName,
  Name,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509'

/** ecdsa-with-SHA256 (RFC 5758 section 3.2): no parameters. */
const ECDSA_SHA256 = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' })
/** RFC 2985 section 5.4.2. */
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

/**
 * PEM. `publicKey` and `privateKey`: a pair of the curve P-256. The name is critical because the subject is empty
 * (RFC 5280 section 4.2.1.6).
 */
export function signingRequest(spiffeId: string, pair: { publicKey: KeyObject; privateKey: KeyObject }): string {
  const name = new SubjectAlternativeName([new GeneralName({ uniformResourceIdentifier: spiffeId })])
  const extension = new Extension({
    extnID: id_ce_subjectAltName,
    critical: true,
    extnValue: new OctetString(AsnConvert.serialize(name)),
  })
  const extensions = AsnConvert.serialize(new Extensions([extension]))
  const content = new CertificationRequestInfo({
    subject: new Name(),
    subjectPKInfo: AsnConvert.parse(pair.publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo),
    attributes: new Attributes([new Attribute({ type: EXTENSION_REQUEST, values: [extensions] })]),
  })
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(content)), pair.privateKey)
  const request = AsnConvert.serialize(
    new CertificationRequest({
      certificationRequestInfo: content,
      signatureAlgorithm: ECDSA_SHA256,
      signature: Uint8Array.from(signature).buffer,
    }),
  )
  const lines =
    Buffer.from(request)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`
}
