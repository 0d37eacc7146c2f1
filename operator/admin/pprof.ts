// `/debug/pprof/profile` and `/debug/pprof/heap` of the controller: one profile of its thread in the pprof format.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { profileCpu, profileHeap, watchHeap } from '#api/profile/profiler.ts'
import { CPU_SECONDS, FREQUENCY, HEAP_SECONDS, numberIn, profileHeaders } from '#api/profile/pprof-request.ts'

const PREFIX = '/debug/pprof/'
const THREAD = 'main'
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/

export interface ProfileCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
}

export class Profiles {
  /** The engine has one sampler, and samples of two readers would mix. */
  #isRunning = false

  constructor() {
    watchHeap()
  }

  /** false: the path is not one of these. Names of functions and files are only for users with access to the pod. */
  async answer({ request, response, url: { pathname, searchParams } }: ProfileCall): Promise<boolean> {
    const kind = pathname.startsWith(PREFIX) ? pathname.slice(PREFIX.length) : ''
    if (kind !== 'profile' && kind !== 'heap') return false
    if (request.method !== 'GET') refuse(response, 405, 'use GET')
    else if (!LOOPBACK.test(request.socket.remoteAddress ?? '')) refuse(response, 403, 'only available over loopback')
    else if (this.#isRunning) refuse(response, 503, 'another profile is in progress; wait until it ends')
    else await this.#send(kind, searchParams, response)
    return true
  }

  async #send(kind: 'profile' | 'heap', query: URLSearchParams, response: ServerResponse): Promise<void> {
    this.#isRunning = true
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    try {
      const bytes = kind === 'profile' ? await cpu(query, gone.signal) : await heap(query, gone.signal)
      response.writeHead(200, profileHeaders(kind === 'profile' ? 'cpu.pb' : 'heap.pb')).end(bytes)
    } finally {
      this.#isRunning = false
    }
  }
}

async function cpu(query: URLSearchParams, signal: AbortSignal): Promise<Uint8Array> {
  const seconds = numberIn(query, 'seconds', CPU_SECONDS) ?? CPU_SECONDS.default
  const frequency = numberIn(query, 'frequency', FREQUENCY) ?? FREQUENCY.default
  const profile = await profileCpu(seconds, frequency, signal)
  const { encodeCpu } = await import('#api/profile/pprof-encoder.ts')
  return encodeCpu([{ thread: THREAD, profile }], frequency)
}

async function heap(query: URLSearchParams, signal: AbortSignal): Promise<Uint8Array> {
  const seconds = numberIn(query, 'seconds', HEAP_SECONDS)
  const profile = await profileHeap(seconds, signal)
  const { encodeHeap } = await import('#api/profile/pprof-encoder.ts')
  return encodeHeap([{ thread: THREAD, profile }], seconds ?? 0)
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
