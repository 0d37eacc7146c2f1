// Bytes shown as Latin-1, as header fields are, and the text that they hold.

const BEYOND_ASCII = /[\x80-\xff]/

/** The text whose UTF-8 is `latin1`. */
export function textOfLatin1(latin1: string): string {
  return BEYOND_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1
}
