// HTTP to the API server. Authentication and TLS come from a kubeconfig or from the pod; the calls are ours, with
// deadlines and bounds. Promises and abort signals only: client.ts makes effects of them.
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import { readJson, readJsonLines } from '#api/kube/answer.ts'
import { type Access, Credentials } from './credentials.ts'

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** What is written, for those who count: `HTTPRoute/status`. */
  readonly target?: string
}

/** A request with a body, or one that removes something. */
export interface KubeWrite {
  readonly verb: string
  readonly target: string
  readonly bytes: number
}

export interface KubeResponse {
  readonly status: number
  readonly body: unknown
  readonly retryAfterMs: number | undefined
}

export interface Transport {
  send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse>
  /** Calls back for each line of JSON; resolves when the server ends the answer. */
  stream(request: KubeRequest, onEvent: (event: unknown) => void, options: StreamOptions): Promise<KubeResponse>
  close(): void
}

export interface StreamOptions {
  readonly signal: AbortSignal
  readonly idleMs: number
  /** Once the server has answered that lines follow. */
  readonly onOpen?: () => void
}

/** Lists come in pages of a few MiB; an object has at most 1.5 MiB. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const REQUEST_MS_MAX = 30_000
const UNAUTHORIZED = 401

/** `onWrite` is told about every attempt, also about those that fail. */
export function createTransport(config: KubeConfig, onWrite: (write: KubeWrite) => void = () => {}): Transport {
  const server = config.getCurrentCluster()?.server.replace(/\/$/, '') ?? ''
  const credentials = new Credentials(config, server.startsWith('https:'))
  const open = async (request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const access = await credentials.access()
    const body = request.body === undefined ? undefined : JSON.stringify(request.body)
    if (request.method !== 'GET') {
      onWrite({ verb: request.method, target: request.target ?? '', bytes: Buffer.byteLength(body ?? '') })
    }
    const response = await start(`${server}${request.path}`, request, { body, signal, access })
    if (response.statusCode === UNAUTHORIZED) credentials.refused()
    return response
  }
  return {
    send: async (request, signal) => {
      const response = await open(request, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)]))
      return { ...statusOf(response), body: await readJson(response, ANSWER_BYTES_MAX) }
    },
    stream: async (request, onEvent, { signal, idleMs, onOpen }) => {
      const response = await open(request, signal)
      const { socket } = response
      const onIdle = (): void => void response.destroy(new Error(`no data for ${idleMs} ms`))
      socket.setTimeout(idleMs, onIdle)
      if (response.statusCode === 200) onOpen?.()
      if (response.statusCode === 200) await readJsonLines(response, onEvent, ANSWER_BYTES_MAX)
      const body = response.statusCode === 200 ? undefined : await readJson(response, ANSWER_BYTES_MAX)
      socket.off('timeout', onIdle)
      return { ...statusOf(response), body }
    },
    close: () => credentials.close(),
  }
}

interface Prepared {
  readonly body: string | undefined
  readonly signal: AbortSignal
  readonly access: Access
}

function start(
  url: string,
  request: KubeRequest,
  { body, signal, access: { headers, agent } }: Prepared,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const options: RequestOptions = {
    method: request.method,
    agent,
    signal,
    headers: {
      ...headers,
      accept: request.accept ?? 'application/json',
      ...(body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
    },
  }
  const outgoing = url.startsWith('https:') ? httpsRequest(url, options, resolve) : httpRequest(url, options, resolve)
  outgoing.on('error', reject)
  outgoing.setTimeout(REQUEST_MS_MAX, () => outgoing.destroy(new Error(`no answer within ${REQUEST_MS_MAX} ms`)))
  outgoing.end(body)
  return promise
}

function statusOf(response: IncomingMessage): { status: number; retryAfterMs: number | undefined } {
  const seconds = Number(response.headers['retry-after'])
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined
  return { status: response.statusCode ?? 0, retryAfterMs }
}
