// One HTTP exchange over an open connection: the request for a key set, and its answer within bounds.
import type { Socket } from 'node:net'
import { ask, type HttpAnswer } from '../http/request.ts'
import { socketClient } from '../http/socket-client.ts'
import type { JwksRequest } from '../translate/policy/jwks-request.ts'
import type { Freshness } from './refresh.ts'

export interface JwksAnswer extends Freshness {
  readonly text: string
}

/** Resources supplement section 2.17. */
const BODY_BYTES_MAX = 1024 * 1024
/** Of its parts; the whole fetch has a deadline of its own (fetcher.ts). */
const ANSWER_MS_MAX = 10_000

/** Bytes that a request line cannot contain; `#` would begin a fragment, which is never sent to servers. */
const UNSAFE = /[^\u0021\u0022\u0024-\u007e]/gu

/** @throws {Error} with a text for people. */
export async function getOver(socket: Socket, request: JwksRequest, signal: AbortSignal): Promise<JwksAnswer> {
  const { status, headers, body } = await respond(socket, request, signal)
  if (status >= 300 && status < 400) throw new Error(`status ${status}; redirects are not followed`)
  if (status !== 200) throw new Error(`status ${status}`)
  return { text: await textOf(body), cacheControl: only(headers['cache-control']), expires: only(headers['expires']) }
}

function respond(socket: Socket, { place, path, tls, proxy }: JwksRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const host = hostOf(place, tls !== undefined)
  const isForwarded = proxy !== undefined && tls === undefined
  return ask(socketClient(socket), {
    method: 'GET',
    path: `${isForwarded ? `http://${host}` : ''}${path.replace(UNSAFE, escaped)}`,
    headers: { host, accept: 'application/json', connection: 'close' },
    signal,
    headMsMax: ANSWER_MS_MAX,
    idleMsMax: ANSWER_MS_MAX,
  })
}

async function textOf(body: HttpAnswer['body']): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) throw new Error(`the response is larger than ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function only(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function hostOf(place: JwksRequest['place'], isTls: boolean): string {
  const host = place.host.includes(':') ? `[${place.host}]` : place.host
  return place.port === (isTls ? 443 : 80) ? host : `${host}:${place.port}`
}

function escaped(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
