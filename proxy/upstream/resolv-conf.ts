// What /etc/resolv.conf says about names: which ones are tried for a host, and in which order (resolv.conf(5)).

export interface SearchRules {
  readonly search: readonly string[]
  /** Names with fewer dots are looked for in the search list first. */
  readonly ndots: number
}

const NDOTS_DEFAULT = 1
/** As the system's own resolver caps it. */
const NDOTS_MAX = 15
/** Each costs a question for every name that is not there. */
const SEARCH_MAX = 32

export function parseResolvConf(text: string): SearchRules {
  let search: readonly string[] = []
  let ndots = NDOTS_DEFAULT
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/)
    // Of several lines the last one counts.
    if (keyword === 'domain') search = values.slice(0, 1)
    else if (keyword === 'search') search = values.slice(0, SEARCH_MAX)
    else if (keyword === 'options') {
      const given = values.map((value) => /^ndots:(\d{1,3})$/.exec(value)?.[1]).findLast((value) => value !== undefined)
      if (given !== undefined) ndots = Math.min(Number(given), NDOTS_MAX)
    }
  }
  return { search: search.map(withoutDot).filter((suffix) => suffix !== ''), ndots }
}

/** Names to ask for, in this order. */
export function candidateNames(host: string, { search, ndots }: SearchRules): readonly string[] {
  if (host.endsWith('.')) return [withoutDot(host)]
  const inSearch = search.map((suffix) => `${host}.${suffix}`)
  const dots = host.split('.').length - 1
  return dots >= ndots ? [host, ...inSearch] : [...inSearch, host]
}

function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name
}
