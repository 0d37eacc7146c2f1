// One HTTP exchange over an open connection: the request for a key set, and its answer within bounds.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { JwksRequest } from '../translate/policy/jwks-request.ts'
import type { Freshness } from './refresh.ts'

export interface JwksAnswer extends Freshness {
  readonly text: string
}

/** Resources supplement section 2.17. */
const BODY_BYTES_MAX = 1024 * 1024

/** What a request line cannot hold, byte by byte; `#` would begin a fragment, which servers never see. */
const UNSAFE = /[^\u0021\u0022\u0024-\u007e]/gu

/** @throws {Error} with a text for people. */
export async function getOver(socket: Socket, request: JwksRequest, signal: AbortSignal): Promise<JwksAnswer> {
  const response = await respond(socket, request, signal)
  const { statusCode = 0, headers } = response
  if (statusCode >= 300 && statusCode < 400) throw new Error(`status ${statusCode}; redirects are not followed`)
  if (statusCode !== 200) throw new Error(`status ${statusCode}`)
  const text = await textOf(response)
  return { text, cacheControl: headers['cache-control'], expires: headers.expires }
}

function respond(
  socket: Socket,
  { place, path, tls, proxy }: JwksRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const host = hostOf(place, tls !== undefined)
  const isForwarded = proxy !== undefined && tls === undefined
  const request = httpRequest({
    createConnection: () => socket,
    method: 'GET',
    path: `${isForwarded ? `http://${host}` : ''}${path.replace(UNSAFE, escaped)}`,
    headers: { host, accept: 'application/json', connection: 'close' },
    signal,
  })
  request.once('response', resolve).once('error', reject)
  request.end()
  return promise
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  // Bytes, because no encoding is set.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) throw new Error(`the answer is larger than ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  if (!response.complete) throw new Error('the answer broke off')
  return Buffer.concat(chunks).toString('utf8')
}

function hostOf(place: JwksRequest['place'], isTls: boolean): string {
  const host = place.host.includes(':') ? `[${place.host}]` : place.host
  return place.port === (isTls ? 443 : 80) ? host : `${host}:${place.port}`
}

function escaped(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
