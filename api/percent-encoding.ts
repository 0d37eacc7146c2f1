// Percent-encoding of texts in URLs (RFC 3986 section 2.1).

/** What encodeURIComponent leaves as it is, although it is reserved. */
const RESERVED = /[!'()*]/g

/**
 * Leaves only unreserved characters (RFC 3986 section 2.3), and of these no `marks`.
 * @throws {URIError} if the text is not well-formed Unicode.
 */
export function percentEncoded(text: string, marks = RESERVED): string {
  return encodeURIComponent(text).replaceAll(marks, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}
