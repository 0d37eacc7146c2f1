// Fields after a body (RFC 9110 section 6.5): which are allowed, and how HTTP/1.1 announces and writes them. Messages
// without trailers do not run this code.
import { fieldName, FieldKind, type FieldName } from './field-name.ts'
import { BAD_VALUE } from './head-text.ts'
import type { HeaderList } from './headers.ts'

/** The source of the trailers of a message. */
export interface TrailerSource {
  /** Available after the end of the body. */
  readonly trailers?: HeaderList | undefined
  /** The field names that the sender announced in `trailer`. */
  readonly trailerNames?: string | undefined
}

/**
 * RFC 9110 section 6.5.1: fields that are needed before the content is read. A recipient that merges trailers into the
 * header fields would otherwise use unchecked values, so fields that identify the client are in the list.
 */
const NEVER = new Set(
  (
    'age authorization cache-control content-encoding content-range content-type cookie date expires forwarded ' +
    'if-match if-modified-since if-none-match if-range if-unmodified-since location max-forwards pragma ' +
    'proxy-authorization range retry-after set-cookie vary warning www-authenticate x-forwarded-for ' +
    'x-forwarded-host x-forwarded-port x-forwarded-proto x-real-ip'
  ).split(' '),
)

export function mayTrail({ kind, lower }: FieldName): boolean {
  return kind === FieldKind.Ordinary && !NEVER.has(lower)
}

export function hasFields(list: HeaderList | undefined): boolean {
  return list !== undefined && list.fields.length > 0
}

/** The trailer section of a chunked body, without the final empty line. Invalid fields are left out. */
export function trailerText(trailers: HeaderList | undefined): string {
  let text = ''
  for (const [raw, value] of trailers ?? []) {
    const name = fieldName(raw)
    if (name !== undefined && mayTrail(name) && !BAD_VALUE.test(value)) text += `${name.lower}: ${value}\r\n`
  }
  return text
}

/** Value of `trailer`; undefined: the message announced no allowed field. */
export function announcement(names: string | undefined): string | undefined {
  if (names === undefined) return undefined
  const kept = names
    .split(',')
    .map((name) => fieldName(name.trim()))
    .filter((name) => name !== undefined && mayTrail(name))
    .map((name) => name?.lower)
  return kept.length === 0 ? undefined : kept.join(', ')
}
