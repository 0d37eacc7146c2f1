// Fields behind a body (RFC 9110 section 6.5): which may stand there, and how HTTP/1.1 announces and writes them.
// Nothing here runs for a message without any.
import { fieldName, FieldKind, type FieldName } from './field-name.ts'
import { BAD_VALUE } from './head-text.ts'
import type { HeaderList } from './headers.ts'

/** Where the trailers of a message will be known. */
export interface TrailerSource {
  /** Once the body has come to its end. */
  readonly trailers?: HeaderList | undefined
  /** What its sender announced in `trailer`. */
  readonly trailerNames?: string | undefined
}

/**
 * RFC 9110 section 6.5.1: what is needed before the content is read. A recipient that merges trailers into the header
 * fields would otherwise act on what nobody has checked, so fields that say who asks are among them.
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

/** The trailer section of a chunked body, without the empty line that ends it. What is not fit is left out. */
export function trailerText(trailers: HeaderList | undefined): string {
  let text = ''
  for (const [raw, value] of trailers ?? []) {
    const name = fieldName(raw)
    if (name !== undefined && mayTrail(name) && !BAD_VALUE.test(value)) text += `${name.lower}: ${value}\r\n`
  }
  return text
}

/** Value of `trailer`; undefined: nothing that could come was announced. */
export function announcement(names: string | undefined): string | undefined {
  if (names === undefined) return undefined
  const kept = names
    .split(',')
    .map((name) => fieldName(name.trim()))
    .filter((name) => name !== undefined && mayTrail(name))
    .map((name) => name?.lower)
  return kept.length === 0 ? undefined : kept.join(', ')
}
