// Reasoning of the Converse API: text with a signature, or data that only the vendor can read.
import type { Signature } from '../../canonical/request.ts'
import { asString, type JsonObject } from '../../json.ts'
import { defined } from '../fields.ts'

/** In front of the value of a signature: it stands for the whole block. */
const REDACTED = 'redacted:'

export function reasoningBlock(text: string, { value }: Signature): JsonObject {
  if (value.startsWith(REDACTED)) return { reasoningContent: { redactedContent: value.slice(REDACTED.length) } }
  return { reasoningContent: { reasoningText: defined({ text, signature: value === '' ? undefined : value }) } }
}

/** `fields`: text and signature of a block, or of a part of it; undefined: there is no signature. */
export function signatureOf(fields: JsonObject): Signature | undefined {
  const redacted = asString(fields['redactedContent'])
  if (redacted !== undefined) return { format: 'Converse', value: REDACTED + redacted }
  const value = asString(fields['signature']) ?? ''
  return value === '' ? undefined : { format: 'Converse', value }
}
