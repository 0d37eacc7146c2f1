// HTTP to the API server. Authentication and TLS come from a kubeconfig or from the pod; the calls are ours, with
// deadlines and bounds. Promises and abort signals only: client.ts makes effects of them.
import type { KubeConfig } from '@kubernetes/client-node'
import { readJson, readJsonLines } from '#api/kube/answer.ts'
import { ask, type HttpAnswer } from '../http/request.ts'
import { Credentials } from './credentials.ts'

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** The kind of object in the write metric: `HTTPRoute/status`. */
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
  /** Called when the response headers have arrived, and lines follow. */
  readonly onOpen?: () => void
}

/** Lists come in pages of a few MiB; an object has at most 1.5 MiB. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const REQUEST_MS_MAX = 30_000
const UNAUTHORIZED = 401

/** Calls `onWrite` for every attempt, also for failed ones. */
export function createTransport(config: KubeConfig, onWrite: (write: KubeWrite) => void = () => {}): Transport {
  const { origin, basePath } = serverOf(config)
  const credentials = new Credentials(config, origin)
  const open = async (request: KubeRequest, signal: AbortSignal, idleMsMax: number): Promise<HttpAnswer> => {
    const { headers, connections } = await credentials.access()
    const { method, contentType = 'application/json', accept = 'application/json' } = request
    const body = request.body === undefined ? undefined : JSON.stringify(request.body)
    if (method !== 'GET') onWrite({ verb: method, target: request.target ?? '', bytes: Buffer.byteLength(body ?? '') })
    const answer = await ask(connections, {
      method,
      path: `${basePath}${request.path}`,
      headers: { ...headers, accept, ...(body !== undefined && { 'content-type': contentType }) },
      body,
      signal,
      headMsMax: REQUEST_MS_MAX,
      idleMsMax,
    })
    if (answer.status === UNAUTHORIZED) credentials.refused()
    return answer
  }
  return {
    send: async (request, signal) => {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)])
      const answer = await open(request, deadline, REQUEST_MS_MAX)
      return { ...statusOf(answer), body: await readJson(answer.body, ANSWER_BYTES_MAX) }
    },
    stream: async (request, onEvent, { signal, idleMs, onOpen }) => {
      const answer = await open(request, signal, idleMs)
      if (answer.status !== 200) {
        return { ...statusOf(answer), body: await readJson(answer.body, ANSWER_BYTES_MAX) }
      }
      onOpen?.()
      await readJsonLines(answer.body, onEvent, ANSWER_BYTES_MAX)
      return { ...statusOf(answer), body: undefined }
    },
    close: () => credentials.close(),
  }
}

/** The API server may have a path prefix, for example behind the proxy of a management platform. */
function serverOf(config: KubeConfig): { readonly origin: string; readonly basePath: string } {
  const { origin, pathname } = new URL(config.getCurrentCluster()?.server ?? '')
  return { origin, basePath: pathname.replace(/\/$/, '') }
}

function statusOf({ status, headers }: HttpAnswer): { status: number; retryAfterMs: number | undefined } {
  const seconds = Number(headers['retry-after'])
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined
  return { status, retryAfterMs }
}
