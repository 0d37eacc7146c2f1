// A URI text whose query expressions can read and change. A string in every other respect; never changed in place.

/** Parameters that are read in one query; the rest is ignored. */
const PARAMETERS_MAX = 1000

export class QueryString {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** All values of that name, decoded (`+` is a space); empty when there is none. */
  query(name: string): string[] {
    const values: string[] = []
    for (const pair of this.#pairs()) {
      const [key, value] = splitPair(pair)
      if (decodeComponent(key) === name) values.push(decodeComponent(value))
    }
    return values
  }

  addQuery(name: string, value: string): QueryString {
    return this.#withPairs([...this.#pairs(), `${encodeURIComponent(name)}=${encodeURIComponent(value)}`])
  }

  /** Replaces the first parameter of that name, drops the others, or appends. */
  setQuery(name: string, value: string): QueryString {
    const wanted = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
    const kept: string[] = []
    let isSet = false
    for (const pair of this.#pairs()) {
      if (decodeComponent(splitPair(pair)[0]) !== name) kept.push(pair)
      else if (!isSet) isSet = kept.push(wanted) > 0
    }
    return this.#withPairs(isSet ? kept : [...kept, wanted])
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }

  #pairs(): string[] {
    const mark = this.text.indexOf('?')
    if (mark < 0) return []
    const hash = this.text.indexOf('#', mark)
    const query = this.text.slice(mark + 1, hash < 0 ? undefined : hash)
    return query === '' ? [] : query.split('&', PARAMETERS_MAX)
  }

  #withPairs(pairs: readonly string[]): QueryString {
    const hash = this.text.indexOf('#')
    const fragment = hash < 0 ? '' : this.text.slice(hash)
    const base = hash < 0 ? this.text : this.text.slice(0, hash)
    const mark = base.indexOf('?')
    return new QueryString(`${mark < 0 ? base : base.slice(0, mark)}?${pairs.join('&')}${fragment}`)
  }
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=')
  return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
}

/** Percent decoding as in forms; an invalid escape stays as it is. */
function decodeComponent(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}
