// Signature Version 4 of AWS over a complete request. Changes nothing of the request: it returns the fields to set.
import type { SignatureV4 } from '@smithy/signature-v4'
import { percentEncoded } from '#api/percent-encoding.ts'
import type { AccessKeys } from './access-keys.ts'
import { Sha256 } from './sha256.ts'

/** The request as it is sent. */
export interface RequestToSign {
  readonly method: string
  /** As it is sent: percent-encoded. */
  readonly pathAndQuery: string
  /** Value of the Host header. */
  readonly authority: string
  /** Lower-case names. */
  readonly headers: Iterable<readonly [string, string]>
  readonly body: Buffer | undefined
}

export interface SigningScope {
  /** Signing name, such as `bedrock`. */
  readonly service: string
  readonly region: string
}

/** Fields that the signature sets. Values of a client must not stand in for them. */
export const SIGNATURE_FIELDS = ['authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'] as const

/** Object storage encodes a path once, and requires the hash of the body as a field; all others encode it twice. */
const OBJECT_STORAGE: ReadonlySet<string> = new Set(['s3', 's3-object-lambda', 's3-outposts', 's3express'])

const OWN: ReadonlySet<string> = new Set(SIGNATURE_FIELDS)

/**
 * The signature covers `host`, `content-type`, `x-amz-*`, `x-amzn-*`, path, query and body (data-plane §8.4);
 * `x-amz-date` stands in for `date`.
 */
export async function signatureFields(
  request: RequestToSign,
  keys: AccessKeys,
  { service, region }: SigningScope,
  signingDate: Date,
): Promise<(readonly [string, string])[]> {
  const isObjectStorage = OBJECT_STORAGE.has(service)
  const { path, query } = splitTarget(request.pathAndQuery)
  const headers = signedHeaders(request)
  const signed = await signer(await library(), { keys, service, region, isObjectStorage }).sign(
    {
      method: request.method,
      protocol: 'https:',
      hostname: request.authority,
      path: isObjectStorage ? encodedOnce(path) : path,
      query: parsedQuery(query),
      headers,
      body: request.body,
    },
    // Fields that the library leaves out by default, such as x-amzn-trace-id.
    { signingDate, signableHeaders: new Set(Object.keys(headers)) },
  )
  return SIGNATURE_FIELDS.flatMap((name) => {
    const value = signed.headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
}

type Library = typeof import('@smithy/signature-v4')

let loading: Promise<Library> | undefined

/** Loaded by the first signature: a gateway without cloudA never does. */
function library(): Promise<Library> {
  loading ??= import('@smithy/signature-v4')
  return loading
}

interface SignerOptions extends SigningScope {
  readonly keys: AccessKeys
  readonly isObjectStorage: boolean
}

function signer(library: Library, { keys, service, region, isObjectStorage }: SignerOptions): SignatureV4 {
  return new library.SignatureV4({
    service,
    region,
    credentials: keys,
    sha256: Sha256,
    uriEscapePath: !isObjectStorage,
    applyChecksum: isObjectStorage,
  })
}

function signedHeaders({ authority, headers }: RequestToSign): Record<string, string> {
  const signed: Record<string, string> = { host: authority }
  for (const [name, value] of headers) {
    if (!isSigned(name)) continue
    const earlier = signed[name]
    signed[name] = earlier === undefined ? value.trim() : `${earlier},${value.trim()}`
  }
  return signed
}

function isSigned(name: string): boolean {
  return name === 'content-type' || ((name.startsWith('x-amz-') || name.startsWith('x-amzn-')) && !OWN.has(name))
}

function splitTarget(pathAndQuery: string): { readonly path: string; readonly query: string } {
  const at = pathAndQuery.indexOf('?')
  return at < 0
    ? { path: pathAndQuery, query: '' }
    : { path: pathAndQuery.slice(0, at), query: pathAndQuery.slice(at + 1) }
}

/** Names to decoded values; the library encodes and sorts them. */
function parsedQuery(query: string): Record<string, string[]> {
  const parsed = new Map<string, string[]>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decodedQuery(at < 0 ? part : part.slice(0, at))
    const value = at < 0 ? '' : decodedQuery(part.slice(at + 1))
    const values = parsed.get(name)
    if (values === undefined) parsed.set(name, [value])
    else values.push(value)
  }
  return Object.fromEntries(parsed)
}

/** The filter of the policy sends `%20` for `+` (see `withoutPlus`), so that both readings of `+` are the same. */
function decodedQuery(text: string): string {
  return decoded(text.replaceAll('+', ' '))
}

/** Servers of AWS read `+` in a query as a blank or as itself; `%20` has one meaning. */
export function withoutPlus(query: string): string {
  return query.includes('+') ? query.replaceAll('+', '%20') : query
}

function encodedOnce(path: string): string {
  return path
    .split('/')
    .map((segment) => percentEncoded(decoded(segment)))
    .join('/')
}

/** A text that is not valid percent-encoding stands for itself. */
function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
