// A certificate signing request (PKCS #10, RFC 2986) with a SPIFFE id as its only name. DER by hand: these few values
// need no library.
import { type KeyObject, sign } from 'node:crypto'

const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const SEQUENCE = 0x30
const SET = 0x31
/** [0] of the attributes, constructed. */
const ATTRIBUTES = 0xa0
/** [6] of GeneralName, an IA5String. */
const URI_NAME = 0x86

const VERSION = Buffer.from([INTEGER, 1, 0])
const TRUE = Buffer.from([0x01, 1, 0xff])
/** ecdsa-with-SHA256 (RFC 5758 section 3.2): no parameters. */
const ECDSA_SHA256 = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'))
/** extensionRequest (RFC 2985 section 5.4.2). */
const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex')
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')

/**
 * PEM. `publicKey` and `privateKey`: a pair of the curve P-256. The name is critical because the subject is empty
 * (RFC 5280 section 4.2.1.6).
 */
export function signingRequest(spiffeId: string, pair: { publicKey: KeyObject; privateKey: KeyObject }): string {
  const name = der(SEQUENCE, der(URI_NAME, Buffer.from(spiffeId, 'latin1')))
  const extension = der(SEQUENCE, SUBJECT_ALT_NAME, TRUE, der(OCTET_STRING, name))
  const attribute = der(SEQUENCE, EXTENSION_REQUEST, der(SET, der(SEQUENCE, extension)))
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' })
  const content = der(SEQUENCE, VERSION, der(SEQUENCE), publicKey, der(ATTRIBUTES, attribute))
  const signature = sign('sha256', content, pair.privateKey)
  const request = der(SEQUENCE, content, ECDSA_SHA256, der(BIT_STRING, Buffer.from([0]), signature))
  const lines = request.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`
}

/** One value with its tag and length (X.690 section 8.1). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const digits = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  if (length > 0xffff) throw new Error('the signing request is too long')
  return Buffer.concat([Buffer.from([tag, ...digits]), content])
}
