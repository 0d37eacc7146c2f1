// The header fields that policies may write: no framing, which belongs to the engine (RFC 9112 section 6), and no value
// that would split the message.

const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export function isFramingField(name: string): boolean {
  return FRAMING.has(name)
}

// oxlint-disable-next-line no-control-regex -- control characters other than tab are what it looks for
const UNSAFE = /[\u0000-\u0008\u000A-\u001F\u007F]/
// oxlint-disable-next-line no-control-regex -- what it looks for is everything but ASCII
const BEYOND_ASCII = /[^\u0000-\u007F]/

/** Like `fieldValue`, for text of a user's configuration and results of expressions. Encoded as UTF-8. */
export function textValue(text: string): string | undefined {
  return fieldValue(BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text)
}

/**
 * The value in its form on the wire; undefined if it is not a valid field value (RFC 9110 section 5.5). Fields are
 * bytes, written as Latin-1. Text beyond Latin-1 is encoded as UTF-8: cut to one byte, `U+010A` would be a line feed.
 */
export function fieldValue(text: string): string | undefined {
  if (UNSAFE.test(text)) return undefined
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0xff) return Buffer.from(text, 'utf8').toString('latin1')
  }
  return text
}
