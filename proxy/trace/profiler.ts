// Samples the thread it runs in, by the inspector of the engine. The result is the engine's own form;
// admin/pprof-encoder.ts turns it into the common one.
import type { Profiler } from 'node:inspector'
import type { Session } from 'node:inspector/promises'
import { setTimeout as delay } from 'node:timers/promises'

export type CpuProfile = Profiler.Profile

/** As the engine gives it; the types of Node leave out ids and samples. */
export interface HeapNode {
  readonly callFrame: Profiler.Profile['nodes'][number]['callFrame']
  readonly selfSize: number
  readonly id?: number
  readonly children: readonly HeapNode[]
}
export interface HeapProfile {
  readonly head: HeapNode
  readonly samples?: readonly { readonly nodeId: number }[]
}

/** One allocation in so many bytes is looked at. */
const HEAP_SAMPLE_BYTES = 32_768
const MICROS = 1e6

export async function profileCpu(seconds: number, frequency: number, signal: AbortSignal): Promise<CpuProfile> {
  return withSession(async (session) => {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: Math.round(MICROS / frequency) })
    await session.post('Profiler.start')
    await pause(seconds, signal)
    return (await session.post('Profiler.stop')).profile
  })
}

/** What was allocated in that time and is still alive at its end. */
export async function profileHeap(seconds: number, signal: AbortSignal): Promise<HeapProfile> {
  return withSession(async (session) => {
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_SAMPLE_BYTES })
    await pause(seconds, signal)
    return (await session.post('HeapProfiler.stopSampling')).profile
  })
}

async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  // Loaded when it is used: threads that nobody samples do without the inspector.
  const inspector = await import('node:inspector/promises')
  const session = new inspector.Session()
  session.connect()
  try {
    return await work(session)
  } finally {
    session.disconnect()
  }
}

/** Ends early when nobody waits for the result any more. */
async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  await delay(seconds * 1000, undefined, { signal, ref: false }).catch(() => undefined)
}
