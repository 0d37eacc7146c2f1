// Thought signatures. Google has them on the part that the thoughts led to: a call, a text or an image, which must have
// it again in the next request. The canonical form has them on reasoning, so the value names the part.
import { carriedSignature, carriedText } from '../../canonical/carrier.ts'
import type { Signature } from '../../canonical/request.ts'
import { decodedOrNot } from './model-path.ts'

/** What the signature belongs to; `id`: of a call. */
export type Signed = { readonly kind: 'call'; readonly id: string } | { readonly kind: 'text' | 'thought' | 'image' }

export interface OwnSignature {
  readonly signed: Signed
  readonly value: string
}

export function signatureFor(signed: Signed, value: string): Signature {
  const name = signed.kind === 'call' ? `call ${encodeURIComponent(signed.id)}` : signed.kind
  return { format: 'GenerateContent', value: `${name}:${value}` }
}

const VALUE = /^(?:call (?<id>[^:]*)|(?<kind>text|thought|image)):(?<value>.*)$/s

/** undefined: of another vendor, or changed by the client. */
export function ownSignature(signature: Signature | undefined): OwnSignature | undefined {
  if (signature?.format !== 'GenerateContent') return undefined
  const { id, kind, value } = VALUE.exec(signature.value)?.groups ?? {}
  if (value === undefined) return undefined
  if (kind === 'text' || kind === 'thought' || kind === 'image') return { signed: { kind }, value }
  const decoded = id === undefined ? undefined : decodedOrNot(id)
  return decoded === undefined ? undefined : { signed: { kind: 'call', id: decoded }, value }
}

/** `thoughtSignature` of reasoning. SDKs decode the field from base64, also the signature of another vendor. */
export function thoughtSignatureOf(signature: Signature): string {
  const own = ownSignature(signature)
  return own === undefined ? Buffer.from(carriedText(signature, 'GenerateContent')).toString('base64') : own.value
}

/** What all of them begin with: `gw:`. */
const CARRIED = Buffer.from('gw:').toString('base64')

/** Of another vendor; undefined: a signature of Google. */
export function foreignSignature(thoughtSignature: string): Signature | undefined {
  if (!thoughtSignature.startsWith(CARRIED)) return undefined
  const signature = carriedSignature(Buffer.from(thoughtSignature, 'base64').toString('utf8'), 'GenerateContent')
  return signature.format === 'GenerateContent' ? undefined : signature
}
