// Header field names: validity, lower case and role in one look-up. Ignores values.

/** The role of a field in the engine; all other fields are `Ordinary` and pass through. */
export const FieldKind = {
  Ordinary: 0,
  Host: 1,
  ContentLength: 2,
  TransferEncoding: 3,
  Connection: 4,
  Expect: 5,
  Upgrade: 6,
  Te: 7,
  /** For one hop only (RFC 9110 section 7.6.1); dropped. */
  HopByHop: 8,
  /** The challenge of a proxy to its client: those of backends are dropped, the proxy sends its own. */
  ProxyAuthenticate: 9,
  /** Fields that a chunked body announces; the engine writes its own. */
  Trailer: 10,
} as const
export type FieldKind = (typeof FieldKind)[keyof typeof FieldKind]

export interface FieldName {
  readonly lower: string
  readonly kind: FieldKind
}

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const NAME_LENGTH_MAX = 256
/** Number of cached spellings; beyond it, names still parse, but slower. */
const CACHE_MAX = 2048

const KINDS = new Map<string, FieldKind>([
  ['host', FieldKind.Host],
  ['content-length', FieldKind.ContentLength],
  ['transfer-encoding', FieldKind.TransferEncoding],
  ['connection', FieldKind.Connection],
  ['expect', FieldKind.Expect],
  ['upgrade', FieldKind.Upgrade],
  ['te', FieldKind.Te],
  ['keep-alive', FieldKind.HopByHop],
  ['proxy-connection', FieldKind.HopByHop],
  ['proxy-authenticate', FieldKind.ProxyAuthenticate],
  ['trailer', FieldKind.Trailer],
])

/** Filled by use, so that names of live traffic are shared strings; limited, and only a cache of a pure function. */
const cache = new Map<string, FieldName>()

/** Always in the cache, regardless of unusual names that clients send. */
const COMMON =
  'accept accept-encoding accept-language authorization cache-control content-encoding content-type cookie date dnt ' +
  'etag expires if-match if-modified-since if-none-match last-modified location origin pragma priority range referer ' +
  'sec-fetch-dest sec-fetch-mode sec-fetch-site server set-cookie strict-transport-security traceparent tracestate ' +
  'user-agent vary via www-authenticate x-forwarded-for x-forwarded-host x-forwarded-proto x-request-id'
for (const name of [...COMMON.split(' '), ...KINDS.keys()]) {
  classify(name)
  classify(name.replaceAll(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()))
}

/** undefined: not a token. */
export function fieldName(raw: string): FieldName | undefined {
  return cache.get(raw) ?? classify(raw)
}

export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

function classify(raw: string): FieldName | undefined {
  if (raw.length > NAME_LENGTH_MAX || !TOKEN.test(raw)) return undefined
  const lower = raw.toLowerCase()
  const name = { lower, kind: KINDS.get(lower) ?? FieldKind.Ordinary }
  // The key is copied: a slice would keep the complete head in memory.
  if (cache.size < CACHE_MAX) cache.set(detached(raw), { ...name, lower: detached(lower) })
  return name
}

function detached(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
