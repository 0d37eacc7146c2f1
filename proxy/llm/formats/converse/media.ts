// Images and documents of the Converse API: always data, named by format instead of media type.
import type { MediaPart, MediaSource } from '../../canonical/request.ts'
import type { JsonObject } from '../../json.ts'
import { quoted, unsupported } from '../fields.ts'

const IMAGES: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const DOCUMENTS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
])

const NAME_CHARS_MAX = 200

/** @param number: of the document in the request, for its name. @throws {Untranslatable} */
export function mediaBlock({ kind, source, at, name }: MediaPart, number: number): JsonObject {
  if (kind === 'audio') throw unsupported(`${at}: audio`)
  if (source.kind === 'url') throw unsupported(`${at}: a URL in place of data`)
  if (source.kind === 'file') throw unsupported(`${at}: a file of another provider`)
  if (kind === 'image') return { image: { format: formatOf(source, IMAGES, at), source: { bytes: bytesOf(source) } } }
  const format = formatOf(source, DOCUMENTS, at)
  return { document: { format, name: documentName(name, number), source: { bytes: bytesOf(source) } } }
}

type DataSource = Extract<MediaSource, { readonly kind: 'base64' | 'text' }>

function formatOf(source: DataSource, formats: ReadonlyMap<string, string>, at: string): string {
  const type = source.kind === 'text' ? 'text/plain' : source.mediaType
  const format = formats.get(type)
  if (format === undefined) throw unsupported(`${at}: media type ${quoted(type)}`)
  return format
}

function bytesOf(source: DataSource): string {
  return source.kind === 'text' ? Buffer.from(source.text).toString('base64') : source.data
}

/** The vendor accepts letters, digits, single spaces and few signs, and demands a different name for each document. */
function documentName(name: string | undefined, number: number): string {
  const clean = (name ?? '').replaceAll(/[^a-zA-Z0-9()[\]-]+/g, ' ').trim()
  return clean === '' ? `document ${number}` : `${clean.slice(0, NAME_CHARS_MAX - 8).trim()} ${number}`
}
