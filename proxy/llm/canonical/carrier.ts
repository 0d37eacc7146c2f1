// Signatures of reasoning in the formats of clients. A client gets a signature of another vendor with its format in
// front, as text, in the field for its own signatures, and sends it back with the next request; the gateway keeps
// nothing. Docs: docs/models.md.
import { FORMATS_IN_FILES, FORMATS, OWN_FORMATS } from '#api/llm/formats.ts'
import type { SentFormatName } from '#api/llm/formats.ts'
import type { Signature } from './request.ts'

const CARRIED = /^gw:([a-zA-Z]+):/
const NAMES: readonly SentFormatName[] = [...FORMATS_IN_FILES.map((one) => FORMATS[one]), ...OWN_FORMATS]

/** The text that a client of the format `own` gets. */
export function carriedText({ format, value }: Signature, own: SentFormatName): string {
  return format === own ? value : `gw:${format}:${value}`
}

/** `text`: of a client of the format `own`. A prefix that names no format is a part of an own signature. */
export function carriedSignature(text: string, own: SentFormatName): Signature {
  const [head = '', name] = CARRIED.exec(text) ?? []
  const format = NAMES.find((one) => one === name)
  return format === undefined ? { format: own, value: text } : { format, value: text.slice(head.length) }
}
