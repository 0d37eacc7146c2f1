// Profiles of the engine as pprof: stacks of all threads in one profile, each sample labelled with its thread.
import { Function, Label, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format'
import { HEAP_SAMPLE_BYTES, type CpuProfile, type HeapNode, type HeapProfile } from './profiler.ts'

export interface OfThread<P> {
  readonly thread: string
  readonly profile: P
}

/** As both kinds of profiles name a place in the program. Lines and columns start at 0. */
interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
  readonly columnNumber: number
}

const NANOS_PER_MICRO = 1000
const NANOS_PER_SECOND = 1e9
/** Time in which the thread slept is not time it used. */
const IDLE = '(idle)'
const ROOT = '(root)'

export function encodeCpu(threads: readonly OfThread<CpuProfile>[], frequency: number): Uint8Array {
  const builder = new Builder([
    ['samples', 'count'],
    ['cpu', 'nanoseconds'],
  ])
  let durationMicros = 0
  for (const { thread, profile } of threads) {
    durationMicros = Math.max(durationMicros, profile.endTime - profile.startTime)
    addCpu(builder, thread, profile)
  }
  return builder.encode({
    periodType: ['cpu', 'nanoseconds'],
    period: Math.round(NANOS_PER_SECOND / frequency),
    durationNanos: durationMicros * NANOS_PER_MICRO,
  })
}

function addCpu(builder: Builder, thread: string, profile: CpuProfile): void {
  const stackOf = stacksOf(profile)
  for (const [id, { count, micros }] of usesOf(profile)) {
    const stack = stackOf(id)
    if (stack[0]?.functionName !== IDLE) builder.add(stack, [count, micros * NANOS_PER_MICRO], thread)
  }
}

/** Samples and time of each node. */
function usesOf({ samples = [], timeDeltas = [] }: CpuProfile): Map<number, { count: number; micros: number }> {
  const used = new Map<number, { count: number; micros: number }>()
  for (const [i, id] of samples.entries()) {
    const use = used.get(id) ?? { count: 0, micros: 0 }
    use.count++
    // A delta is the time since the previous sample, so the first one is the start time of the sampler and belongs to
    // no function. Clocks of processors differ: a step back counts as 0.
    use.micros += Math.max(0, timeDeltas[i + 1] ?? 0)
    used.set(id, use)
  }
  return used
}

function stacksOf({ nodes }: CpuProfile): (id: number) => readonly Frame[] {
  const parents = new Map<number, number>()
  const frames = new Map<number, Frame>(nodes.map(({ id, callFrame }) => [id, callFrame]))
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  return (id) => {
    const stack: Frame[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at)
      if (frame !== undefined && frame.functionName !== ROOT) stack.push(frame)
    }
    return stack
  }
}

/** `seconds`: how long allocations were looked at; 0 for all that is in use. */
export function encodeHeap(threads: readonly OfThread<HeapProfile>[], seconds: number): Uint8Array {
  // The engine reports the weight of a sample in bytes, not in objects.
  const builder = new Builder([
    ['samples', 'count'],
    ['inuse_space', 'bytes'],
  ])
  for (const { thread, profile } of threads) addHeap(builder, thread, profile)
  return builder.encode({
    periodType: ['space', 'bytes'],
    period: HEAP_SAMPLE_BYTES,
    durationNanos: seconds * NANOS_PER_SECOND,
  })
}

function addHeap(builder: Builder, thread: string, { head, samples }: HeapProfile): void {
  const used = new Map<number, { count: number; bytes: number }>()
  for (const { nodeId, size } of samples) {
    const use = used.get(nodeId) ?? { count: 0, bytes: 0 }
    use.count++
    use.bytes += size
    used.set(nodeId, use)
  }
  const open: { node: HeapNode; stack: readonly Frame[] }[] = [{ node: head, stack: [] }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node } = next
    const stack = node.callFrame.functionName === ROOT ? next.stack : [node.callFrame, ...next.stack]
    const use = used.get(node.id)
    if (use !== undefined) builder.add(stack, [use.count, use.bytes], thread)
    for (const child of node.children) open.push({ node: child, stack })
  }
}

class Builder {
  readonly #strings = new StringTable()
  readonly #types: readonly ValueType[]
  readonly #locations = new Map<string, Location>()
  readonly #functions = new Map<string, Function>()
  readonly #samples: Sample[] = []

  constructor(types: readonly (readonly [string, string])[]) {
    this.#types = types.map((type) => this.#typeOf(type))
  }

  /** `stack`: innermost first. */
  add(stack: readonly Frame[], values: readonly number[], thread: string): void {
    const label = new Label({ key: this.#strings.dedup('thread'), str: this.#strings.dedup(thread) })
    this.#samples.push(
      new Sample({
        locationId: stack.map((frame) => this.#location(frame).id),
        value: values.map((value) => Math.round(value)),
        label: [label],
      }),
    )
  }

  encode(facts: { periodType: readonly [string, string]; period: number; durationNanos: number }): Uint8Array {
    return new Profile({
      sampleType: [...this.#types],
      sample: this.#samples,
      location: [...this.#locations.values()],
      function: [...this.#functions.values()],
      periodType: this.#typeOf(facts.periodType),
      period: facts.period,
      durationNanos: Math.round(facts.durationNanos),
      timeNanos: BigInt(Date.now()) * 1_000_000n,
      stringTable: this.#strings,
    }).encode()
  }

  #typeOf([type, unit]: readonly [string, string]): ValueType {
    return new ValueType({ type: this.#strings.dedup(type), unit: this.#strings.dedup(unit) })
  }

  #location(frame: Frame): Location {
    const key = `${frame.functionName}\n${frame.url}\n${frame.lineNumber}:${frame.columnNumber}`
    let location = this.#locations.get(key)
    if (location === undefined) {
      const line = new Line({ functionId: this.#function(frame, key).id, line: frame.lineNumber + 1 })
      location = new Location({ id: this.#locations.size + 1, line: [line] })
      this.#locations.set(key, location)
    }
    return location
  }

  #function({ functionName, url, lineNumber }: Frame, key: string): Function {
    let known = this.#functions.get(key)
    if (known === undefined) {
      const name = this.#strings.dedup(functionName === '' ? '(anonymous)' : functionName)
      known = new Function({
        id: this.#functions.size + 1,
        name,
        systemName: name,
        filename: this.#strings.dedup(url),
        startLine: lineNumber + 1,
      })
      this.#functions.set(key, known)
    }
    return known
  }
}
