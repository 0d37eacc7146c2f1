// The part of a Kubernetes client that a proxy needs: read one object, watch one object, patch one object. Each call
// has a deadline and a size limit. Runs on the main thread.
import { readFileSync } from 'node:fs'
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { readJson, readJsonLines } from '#api/kube/answer.ts'

export interface KubeAnswer {
  readonly status: number
  readonly body: unknown
}

export interface KubeClient {
  get(path: string, signal: AbortSignal): Promise<KubeAnswer>
  /** JSON merge patch. */
  patch(path: string, body: unknown, signal: AbortSignal): Promise<KubeAnswer>
  /** Resolves with the status when the server ends the watch; each event is one object. */
  watch(path: string, onEvent: (event: unknown) => void, options: WatchOptions): Promise<number>
  close(): void
}

export interface WatchOptions {
  readonly signal: AbortSignal
  /** The connection counts as dead after this long without a byte. */
  readonly idleMs: number
}

export interface KubeAccess {
  /** `https://10.0.0.1:443` */
  readonly server: string
  readonly ca: string | undefined
  /** Read again for each call: the kubelet replaces the token before it expires. */
  readonly token: () => string | undefined
}

const REQUEST_MS_MAX = 10_000
/** An object has at most 1 MiB; base64 and JSON make it larger. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const KEEP_ALIVE_MS = 15_000
const SOCKETS_MAX = 8

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Of the pod, or from the GW_API_* variables; undefined outside a cluster. */
export function kubeAccessOf(environment: Readonly<Record<string, string | undefined>>): KubeAccess | undefined {
  const { GW_API_SERVER: server, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment
  const url = server ?? (host === undefined ? undefined : `https://${host.includes(':') ? `[${host}]` : host}:${port}`)
  if (url === undefined) return undefined
  const tokenFile = environment['GW_API_TOKEN_FILE'] ?? `${SERVICE_ACCOUNT}/token`
  return {
    server: url.replace(/\/$/, ''),
    ca: readIfThere(environment['GW_API_CA_FILE'] ?? `${SERVICE_ACCOUNT}/ca.crt`),
    token: () => readIfThere(tokenFile)?.trim(),
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Without it the API server rejects the call, and that error is logged.
    return undefined
  }
}

export function createKubeClient(access: KubeAccess): KubeClient {
  const isTls = access.server.startsWith('https:')
  const options = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxSockets: SOCKETS_MAX }
  const agent = isTls
    ? new HttpsAgent({ ...options, ...(access.ca !== undefined && { ca: access.ca }) })
    : new HttpAgent(options)
  const send = (path: string, request: Outgoing): Promise<IncomingMessage> =>
    open({ url: access.server + path, isTls, agent, token: access.token(), request })
  return {
    get: (path, signal) => ask(send, path, { method: 'GET', signal: bounded(signal) }),
    patch: (path, body, signal) => {
      const type = 'application/merge-patch+json'
      return ask(send, path, { method: 'PATCH', signal: bounded(signal), type, body: JSON.stringify(body) })
    },
    watch: async (path, onEvent, { signal, idleMs }) => {
      const response = await send(path, { method: 'GET', signal })
      response.socket.setTimeout(idleMs, () => response.destroy(new Error(`no data for ${idleMs} ms`)))
      if (response.statusCode !== 200) {
        response.resume()
        return response.statusCode ?? 0
      }
      await readJsonLines(response, onEvent, ANSWER_BYTES_MAX)
      return 200
    },
    close: () => agent.destroy(),
  }
}

interface Outgoing {
  readonly method: 'GET' | 'PATCH'
  readonly signal: AbortSignal
  readonly type?: string
  readonly body?: string
}

interface Target {
  readonly url: string
  readonly isTls: boolean
  readonly agent: HttpAgent | HttpsAgent
  readonly token: string | undefined
  readonly request: Outgoing
}

function bounded(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS_MAX)])
}

function open({ url, isTls, agent, token, request }: Target): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const options: RequestOptions = {
    method: request.method,
    agent,
    signal: request.signal,
    headers: {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(request.type !== undefined && { 'content-type': request.type }),
    },
  }
  const outgoing = isTls ? httpsRequest(url, options, resolve) : httpRequest(url, options, resolve)
  outgoing.on('error', reject)
  // A server that accepts connections and never responds.
  outgoing.setTimeout(REQUEST_MS_MAX, () => outgoing.destroy(new Error(`no response within ${REQUEST_MS_MAX} ms`)))
  outgoing.end(request.body)
  return promise
}

async function ask(
  send: (path: string, request: Outgoing) => Promise<IncomingMessage>,
  path: string,
  request: Outgoing,
): Promise<KubeAnswer> {
  const response = await send(path, request)
  return { status: response.statusCode ?? 0, body: await readJson(response, ANSWER_BYTES_MAX) }
}
