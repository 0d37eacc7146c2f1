// Which values of a standalone file or a manifest are credentials, by their place and by their form. Pure.
import { isSensitiveHeader } from '#api/credentials/sensitive-headers.ts'

/** Names of mappings, and positions in lists. */
export type Place = readonly (string | number)[]

/** Whatever is around them. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'accesskeyid',
  'apikey',
  'clientsecret',
  'htpasswd',
  'passphrase',
  'password',
  'privatekey',
  'secretaccesskey',
  'sessiontoken',
  'token',
  'users',
])
/** Fields below which `key`, `value` and a text alone are a credential. */
const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set([
  'apikey',
  'apikeyauthentication',
  'auth',
  'backendauth',
  'clientsecret',
  'credentials',
  'session',
])
/** Maps of names to texts that may hold credentials in any name. */
const SECRET_MAPS: ReadonlySet<string> = new Set(['env', 'stringdata'])
/** Fields that name a place and hold no credential. */
const PLACES = /^(?:file|url|location|prefix|name|namespace|kind)$|ref$/
const VALUE_NAMES: ReadonlySet<string> = new Set(['value', 'expression'])

/** `kind`: of the manifest; `sibling`: the field `name` beside the value. */
export function isCredentialPlace(place: Place, kind: string | undefined, sibling: string | undefined): boolean {
  const names = place.map((part) => (typeof part === 'string' ? part.toLowerCase() : part))
  const texts = names.filter((part) => typeof part === 'string')
  if (kind === 'Secret' && texts[0] === 'data') return true
  if (isInSecretMap(names)) return true
  const [last = ''] = texts.slice(-1)
  if (texts.some((name) => PLACES.test(name))) return false
  const isHeader = typeof names.at(-1) === 'string' && isSensitiveHeader(last)
  const isOfHeader = VALUE_NAMES.has(last) && sibling !== undefined && isSensitiveHeader(sibling)
  return isHeader || isOfHeader || SECRET_NAMES.has(last) || isOfCredential(texts, last)
}

/** The value itself, or its `key` or `value`. */
function isOfCredential(texts: readonly string[], last: string): boolean {
  if (CREDENTIAL_FIELDS.has(last)) return last !== 'session'
  const isBelow = texts.slice(0, -1).some((name) => CREDENTIAL_FIELDS.has(name))
  return isBelow && (last === 'key' || last === 'value')
}

/** As a map, or as a list of `{name, value}`. */
function isInSecretMap(names: Place): boolean {
  const at = names.findIndex((part) => typeof part === 'string' && SECRET_MAPS.has(part))
  if (at < 0) return false
  return typeof names[at + 1] === 'string' || names.at(-1) === 'value'
}

/** Texts with the form of a credential, wherever they stand: keys of providers, tokens, passwords in URLs. */
const FORMS = [
  /\bsk-[\w-]{16,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bgh[pousr]_\w{20,}/,
  /\bxox[abprs]-[\w-]{10,}/,
  /\bAIza[\w-]{30,}/,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b[a-z][a-z0-9+.-]*:\/\/[^/?#@\s:]+:[^/?#@\s]+@/i,
  /\b(?:bearer|basic)\s+[\w+/=.~-]{8,}/i,
  /\$(?:2[aby]|apr1|5|6)\$[\w./$]{8,}/,
  /^--?[\w-]*(?:token|key|secret|password)[\w-]*=./i,
]
/** An argument after which the next one is a credential. */
const SECRET_FLAG = /^--?[\w-]*(?:token|key|secret|password)[\w-]*$/i
const IN_COMMENT = /\b(?:api_?key|token|secret|password|passwd)\w*["']?\s*[:=]\s*\S+/i

export function hasCredentialForm(text: string, before: string | undefined): boolean {
  return FORMS.some((form) => form.test(text)) || (before !== undefined && SECRET_FLAG.test(before))
}

export function mayHoldCredential(comment: string): boolean {
  return hasCredentialForm(comment, undefined) || IN_COMMENT.test(comment)
}

/** A variable alone: its name is not a credential. */
export function isVariable(text: string): boolean {
  return /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})$/.test(text)
}
