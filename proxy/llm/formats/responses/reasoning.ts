// Reasoning items of the responses format. The signature of one is its id with its encrypted content: the vendor
// requires both back.
import { carriedSignature, carriedText } from '../../canonical/carrier.ts'
import type { Signature } from '../../canonical/request.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'

/** Between parts of a summary. */
export const SUMMARY_SEPARATOR = '\n\n'

export interface ReasoningText {
  readonly text: string
  readonly isSummary: boolean
}

/** The reasoning itself, where the provider shows it. */
export function reasoningOf(item: JsonObject): ReasoningText {
  const content = textsOf(item['content'])
  if (content.length > 0) return { text: content.join(''), isSummary: false }
  return { text: textsOf(item['summary']).join(SUMMARY_SEPARATOR), isSummary: true }
}

function textsOf(list: unknown): readonly string[] {
  return asArray(list).map((part) => asString(asObject(part)['text']) ?? '')
}

const OWN = /^([^:]*):([^]*)$/

/** Of an item of a provider; undefined: it has no encrypted content. */
export function signatureOf({ id, encrypted_content: encrypted }: JsonObject): Signature | undefined {
  if (typeof encrypted !== 'string' || encrypted === '') return undefined
  return { format: 'Responses', value: `${asString(id) ?? ''}:${encrypted}` }
}

/** Of an item that a client sends back. */
export function sentSignatureOf(item: JsonObject): Signature | undefined {
  const text = asString(item['encrypted_content']) ?? ''
  if (text === '') return undefined
  const carried = carriedSignature(text, 'Responses')
  return carried.format === 'Responses' ? signatureOf(item) : carried
}

/** `id` and `encrypted_content` of an item; the id is that of the signature, if it is of this format. */
export function signedFields(signature: Signature | undefined, id: string): JsonObject {
  if (signature === undefined) return { id }
  if (signature.format !== 'Responses') return { id, encrypted_content: carriedText(signature, 'Responses') }
  const [, own = '', encrypted = ''] = OWN.exec(signature.value) ?? []
  return { id: own, encrypted_content: encrypted }
}
