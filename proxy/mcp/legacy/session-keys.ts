// Keys that seal the ids of MCP sessions, in the form of settings.

export const SESSION_KEY_BYTES = 32
/** The current key and previous ones: ids live for a day, so that more are useless. */
const SESSION_KEYS_MAX = 4
const DIGITS = SESSION_KEY_BYTES * 2

export const SESSION_KEYS_RULE = `${DIGITS} hexadecimal digits, or up to ${SESSION_KEYS_MAX} such keys separated by commas, the new key first`

/** undefined: not valid keys. */
export function parseSessionKeys(text: string): readonly Uint8Array[] | undefined {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.length > SESSION_KEYS_MAX) return undefined
  if (!parts.every((part) => part.length === DIGITS && /^[0-9a-f]+$/i.test(part))) return undefined
  return parts.map((part) => Uint8Array.from(Buffer.from(part, 'hex')))
}
