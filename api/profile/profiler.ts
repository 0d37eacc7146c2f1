// Samples the thread it runs in, by the inspector of the engine. The result is the engine's own form;
// pprof-encoder.ts turns it into the common one.
import type { Profiler } from 'node:inspector'
import type { Session } from 'node:inspector/promises'
import { setTimeout as delay } from 'node:timers/promises'

export type CpuProfile = Profiler.Profile

/** As the engine gives it; the types of Node leave out ids and samples. */
export interface HeapNode {
  readonly callFrame: Profiler.Profile['nodes'][number]['callFrame']
  readonly id: number
  readonly children: readonly HeapNode[]
}
export interface HeapSample {
  readonly nodeId: number
  /** Bytes that the sample stands for. */
  readonly size: number
  /** Later samples have higher ones. */
  readonly ordinal: number
}
export interface HeapProfile {
  readonly head: HeapNode
  /** Of what is still alive. */
  readonly samples: readonly HeapSample[]
}

/**
 * One allocation in so many bytes is looked at, as Go does it. Measured: 15 us a sample, so that a thread that
 * allocates 100 MB in a second spends 0.3 % of it.
 */
export const HEAP_SAMPLE_BYTES = 512 * 1024
const MICROS = 1e6

let heapSession: Promise<Session> | undefined

/** From now on for as long as the thread lives: memory in use is only known where its allocation was seen. */
export function watchHeap(): void {
  heapSession ??= startHeapSampling()
  // The error is reported to each request for a profile.
  heapSession.catch(() => undefined)
}

export async function profileCpu(seconds: number, frequency: number, signal: AbortSignal): Promise<CpuProfile> {
  return withSession(async (session) => {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: Math.round(MICROS / frequency) })
    await session.post('Profiler.start')
    await pause(seconds, signal)
    return (await session.post('Profiler.stop')).profile
  })
}

/** Memory in use; with `seconds`, only memory allocated in that time. The engine collects garbage first. */
export async function profileHeap(seconds: number | undefined, signal: AbortSignal): Promise<HeapProfile> {
  watchHeap()
  const session = await heapSession
  if (session === undefined) throw new Error('heap sampling is not running on this thread')
  if (seconds === undefined) return heapOf(session)
  const before = lastOf(await heapOf(session))
  await pause(seconds, signal)
  const { head, samples } = await heapOf(session)
  return { head, samples: samples.filter(({ ordinal }) => ordinal > before) }
}

async function startHeapSampling(): Promise<Session> {
  const session = await openSession()
  await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_SAMPLE_BYTES })
  return session
}

async function heapOf(session: Session): Promise<HeapProfile> {
  // The protocol has ids and samples; see above.
  return (await session.post('HeapProfiler.getSamplingProfile')).profile as unknown as HeapProfile
}

function lastOf({ samples }: HeapProfile): number {
  return samples.reduce((last, { ordinal }) => Math.max(last, ordinal), 0)
}

async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession()
  try {
    return await work(session)
  } finally {
    session.disconnect()
  }
}

async function openSession(): Promise<Session> {
  const inspector = await import('node:inspector/promises')
  const session = new inspector.Session()
  session.connect()
  return session
}

/** Ends early when the request for the result was aborted. */
async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  await delay(seconds * 1000, undefined, { signal, ref: false }).catch(() => undefined)
}
