// A server's side of Signature Version 4, written from the public documentation ("Create a signed AWS API request"),
// without any code of the library that signs.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export interface ReceivedRequest {
  readonly method: string
  /** As received. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface Verified {
  readonly accessKeyId: string
  readonly region: string
  readonly service: string
  readonly signedHeaders: readonly string[]
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/

/** @throws if the signature is not that of the request */
export function verifySignature(request: ReceivedRequest, secretOf: (accessKeyId: string) => string): Verified {
  const { accessKeyId, day, region, service, names, signature } = authorizationOf(request)
  const time = request.headers['x-amz-date'] ?? ''
  if (!time.startsWith(day)) throw new Error('the day of the scope is not that of x-amz-date')
  const bodyHash = sha256(request.body)
  const statedHash = request.headers['x-amz-content-sha256']
  if (statedHash !== undefined && statedHash !== bodyHash) throw new Error('x-amz-content-sha256 is not of this body')
  const canonical = canonicalRequest(request, { names, service, bodyHash })
  const toSign = ['AWS4-HMAC-SHA256', time, `${day}/${region}/${service}/aws4_request`, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(hmac, Buffer.from(`AWS4${secretOf(accessKeyId)}`))
  if (!timingSafeEqual(hmac(key, toSign), Buffer.from(signature, 'hex'))) {
    throw new Error(`SignatureDoesNotMatch: canonical request\n${canonical}`)
  }
  return { accessKeyId, region, service, signedHeaders: names.split(';') }
}

function authorizationOf({ headers }: ReceivedRequest) {
  const match = AUTHORIZATION.exec(headers['authorization'] ?? '')
  if (match === null) throw new Error('no signature')
  const [, accessKeyId = '', day = '', region = '', service = '', names = '', signature = ''] = match
  return { accessKeyId, day, region, service, names, signature }
}

function canonicalRequest(
  { method, target, headers }: ReceivedRequest,
  { names, service, bodyHash }: { names: string; service: string; bodyHash: string },
): string {
  const at = target.indexOf('?')
  return [
    method,
    canonicalPath(at < 0 ? target : target.slice(0, at), service === 's3'),
    canonicalQuery(at < 0 ? '' : target.slice(at + 1)),
    ...names.split(';').map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names,
    bodyHash,
  ].join('\n')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}

/** UriEncode() of the documentation, byte by byte. */
function uriEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

function canonicalPath(path: string, isObjectStorage: boolean): string {
  if (isObjectStorage)
    return path
      .split('/')
      .map((part) => uriEncode(decodeURIComponent(part)))
      .join('/')
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') kept.pop()
    else if (part !== '' && part !== '.') kept.push(uriEncode(part))
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`
}

function canonicalQuery(query: string): string {
  if (query === '') return ''
  const pairs = query.split('&').map((part) => {
    const [name = '', ...rest] = part.split('=')
    return [uriEncode(decodeURIComponent(name)), uriEncode(decodeURIComponent(rest.join('=')))] as const
  })
  const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
  return pairs
    .sort(([a, x], [b, y]) => order(a, b) || order(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}
