// Keeps the credentials of one traced request out of its events: by the place they stand in, and by their value
// wherever else it turns up (a copied header, an expression's result, a body that echoes the request).
import { REDACTED } from '#api/credentials/sensitive-headers.ts'
import type { HeaderList } from '../message/headers.ts'
import { type CredentialNames, decodedText } from '../log/credential-names.ts'

/** Shorter values are hidden in their own place only: they would take half of the text with them. */
const VALUE_CHARACTERS_MIN = 6
/** Values remembered for one request; a request has few. */
const VALUES_MAX = 128
/** Members of an event that are its own words; a body is clean before it becomes base64. */
const OWN_WORDS: ReadonlySet<string> = new Set(['type', 'severity', 'stage', 'phase', 'kind', 'body'])

export class Redactor {
  readonly #names: CredentialNames
  readonly #values = new Set<string>()
  /** Longest first, so that no part of a long secret survives a short one. */
  #sorted: readonly string[] | undefined = undefined

  constructor(names: CredentialNames) {
    this.#names = names
  }

  /** Header fields as an object; several fields of one name are a list. */
  headers(list: HeaderList): Record<string, string | string[]> {
    // Names come from the peer: no prototype. Object.create has no better type.
    const shown = Object.create(null) as Record<string, string | string[]>
    for (const [name, value] of list) {
      const text = this.#names.hasHeader(name) ? this.#hide(name, value) : value
      const known = shown[name]
      if (known === undefined) shown[name] = text
      else if (Array.isArray(known)) known.push(text)
      else shown[name] = [known, text]
    }
    return shown
  }

  query(query: string): string {
    return this.#names.hideIn(query, (value) => {
      this.learn(value)
      this.learn(decodedText(value))
    })
  }

  /** Text without any credential that was seen so far. */
  text(text: string): string {
    let shown = text
    for (const value of this.#longestFirst()) if (shown.includes(value)) shown = shown.replaceAll(value, REDACTED)
    return shown
  }

  bytes(bytes: Buffer): Buffer {
    return this.#values.size === 0 ? bytes : Buffer.from(this.text(bytes.toString('latin1')), 'latin1')
  }

  /** JSON of an event. Values of others are cleaned, the event's own words are not. */
  json(event: { readonly message: object }): string {
    const clean = (text: string): string => this.text(text)
    return JSON.stringify(event, function (this: unknown, key, value: unknown) {
      if (typeof value !== 'string') return typeof value === 'bigint' ? String(value) : value
      const isOwn = (this === event || this === event.message) && OWN_WORDS.has(key)
      return isOwn ? value : clean(value)
    })
  }

  #hide(name: string, value: string): string {
    if (name === 'cookie') for (const pair of value.split(';')) this.learn(afterEquals(pair))
    else if (name === 'set-cookie') this.learn(afterEquals(value.split(';', 1)[0] ?? ''))
    else {
      this.learn(value)
      const blank = value.indexOf(' ')
      if (blank > 0) this.#learnToken(value.slice(0, blank).toLowerCase(), value.slice(blank + 1).trim())
    }
    return REDACTED
  }

  #learnToken(scheme: string, token: string): void {
    this.learn(token)
    if (scheme !== 'basic') return
    const pair = Buffer.from(token, 'base64').toString('utf8')
    this.learn(pair)
    this.learn(pair.slice(pair.indexOf(':') + 1))
  }

  /** Hides this value from here on. */
  learn(value: string): void {
    if (value.length < VALUE_CHARACTERS_MIN || this.#values.size >= VALUES_MAX) return
    this.#values.add(value)
    // As bodies that hold JSON spell it.
    const escaped = JSON.stringify(value).slice(1, -1)
    if (escaped !== value) this.#values.add(escaped)
    this.#sorted = undefined
  }

  #longestFirst(): readonly string[] {
    this.#sorted ??= [...this.#values].sort((a, b) => b.length - a.length)
    return this.#sorted
  }
}

function afterEquals(pair: string): string {
  return pair.slice(pair.indexOf('=') + 1).trim()
}
