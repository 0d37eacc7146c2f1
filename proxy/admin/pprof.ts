// `/debug/pprof/profile` and `/debug/pprof/heap`: samples the main thread and all workers, or one of them, and
// answers one profile in the pprof format.
import type { ServerResponse } from 'node:http'
import type { OfThread } from '#api/profile/pprof-encoder.ts'
import { CPU_SECONDS, FREQUENCY, HEAP_SECONDS, numberIn, profileHeaders } from '#api/profile/pprof-request.ts'
import { profileCpu, profileHeap, watchHeap, type CpuProfile, type HeapProfile } from '#api/profile/profiler.ts'
import { ask, type Question } from '../trace/ask.ts'
import type { Inspectable } from '../trace/hub.ts'
import { sendText } from './http-listener.ts'

/** Beyond the time of sampling, for a thread that is busy. */
const SLACK_MS = 10_000
const MAIN = 'main'

export class Profiles {
  readonly #workers: () => readonly Inspectable[]
  /** The engine has one sampler for each thread, and samples of two readers would mix. */
  #isRunning = false

  constructor(workers: () => readonly Inspectable[]) {
    this.#workers = workers
    watchHeap()
  }

  async cpu(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const seconds = numberIn(query, 'seconds', CPU_SECONDS) ?? CPU_SECONDS.default
    const frequency = numberIn(query, 'frequency', FREQUENCY) ?? FREQUENCY.default
    await this.#answer<CpuProfile>(query, response, {
      file: 'cpu.pb',
      question: { kind: 'cpuProfile', seconds, frequency },
      ofMain: (signal) => profileCpu(seconds, frequency, signal),
      encode: async (threads) => (await encoder()).encodeCpu(threads, frequency),
    })
  }

  async heap(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const seconds = numberIn(query, 'seconds', HEAP_SECONDS)
    await this.#answer<HeapProfile>(query, response, {
      file: 'heap.pb',
      question: { kind: 'heapProfile', seconds },
      ofMain: (signal) => profileHeap(seconds, signal),
      encode: async (threads) => (await encoder()).encodeHeap(threads, seconds ?? 0),
    })
  }

  async #answer<P>(query: URLSearchParams, response: ServerResponse, job: Job<P>): Promise<void> {
    const wanted = query.get('thread')
    const workers = this.#workers().filter(({ slot }) => wanted === null || wanted === nameOf(slot))
    if (workers.length === 0 && wanted !== null && wanted !== MAIN) {
      const known = [MAIN, ...this.#workers().map(({ slot }) => nameOf(slot))]
      sendText(response, 400, `thread: must be one of ${known.join(', ')}\n`)
      return
    }
    if (response.req.method === 'HEAD') {
      response.writeHead(200, profileHeaders(job.file)).end()
      return
    }
    if (this.#isRunning) {
      sendText(response, 503, 'another profile is in progress; wait until it ends\n')
      return
    }
    this.#isRunning = true
    try {
      const threads = await sample(job, workers, { hasMain: wanted === null || wanted === MAIN, response })
      if (threads.length === 0) {
        sendText(response, 503, 'no thread could be sampled\n')
        return
      }
      const profile = await job.encode(threads)
      response.writeHead(200, profileHeaders(job.file)).end(profile)
    } finally {
      this.#isRunning = false
    }
  }
}

interface Job<P> {
  readonly file: string
  readonly question: Extract<Question, { kind: 'cpuProfile' | 'heapProfile' }>
  readonly ofMain: (signal: AbortSignal) => Promise<P>
  readonly encode: (threads: readonly OfThread<P>[]) => Promise<Uint8Array>
}

/** Loaded when it is needed: few processes are ever profiled. */
function encoder(): Promise<typeof import('#api/profile/pprof-encoder.ts')> {
  return import('#api/profile/pprof-encoder.ts')
}

/** Threads that die or refuse are left out. */
async function sample<P>(
  { question, ofMain }: Job<P>,
  workers: readonly Inspectable[],
  { hasMain, response }: { readonly hasMain: boolean; readonly response: ServerResponse },
): Promise<OfThread<P>[]> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const timeoutMs = (question.seconds ?? 0) * 1000 + SLACK_MS
  const ofWorkers = workers.map(async (worker): Promise<OfThread<P>[]> => {
    const answer = await ask(worker, question, { timeoutMs, signal: gone.signal })
    // The kind of profile is the one that was asked for.
    return answer.type === 'profile' ? [{ thread: nameOf(worker.slot), profile: answer.profile as P }] : []
  })
  const own = hasMain ? ofMain(gone.signal).then((profile) => [{ thread: MAIN, profile }]) : Promise.resolve([])
  return (await Promise.all([own, ...ofWorkers])).flat()
}

function nameOf(slot: number): string {
  return `worker-${slot}`
}
