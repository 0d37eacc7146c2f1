// When a thread gives memory back: after a quiet time, when there is something to give.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HeapRelease, ownHeap, QuietTime, type ReleasableHeap, type WorkerLoad } from './heap-release.ts'

const MIB = 1024 * 1024

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function started(bytes: number): { heap: { size: number; releases: number }; release: HeapRelease } {
  const heap = { size: bytes, releases: 0 }
  const release = new HeapRelease({
    bytes: () => heap.size,
    release: () => {
      heap.releases++
      heap.size = 20 * MIB
    },
  })
  return { heap, release }
}

describe('HeapRelease', () => {
  it('releases once after the work is done, and not while more of it comes', () => {
    const { heap, release } = started(100 * MIB)
    for (let i = 0; i < 5; i++) {
      release.schedule()
      vi.advanceTimersByTime(999)
    }
    expect(heap.releases).toBe(0)
    vi.advanceTimersByTime(1)
    expect(heap.releases).toBe(1)
    vi.advanceTimersByTime(60_000)
    expect(heap.releases).toBe(1)
  })

  it('waits for work that has begun', () => {
    const { heap, release } = started(100 * MIB)
    release.schedule()
    release.defer()
    vi.advanceTimersByTime(60_000)
    expect(heap.releases).toBe(0)
    release.schedule()
    vi.advanceTimersByTime(1000)
    expect(heap.releases).toBe(1)
  })

  it('leaves growth to V8 that a next change would need again', () => {
    const { heap, release } = started(100 * MIB)
    release.schedule()
    vi.advanceTimersByTime(1000)
    heap.size = 37 * MIB
    release.schedule()
    vi.advanceTimersByTime(1000)
    expect(heap.releases).toBe(1)
    heap.size = 38 * MIB
    release.schedule()
    vi.advanceTimersByTime(1000)
    expect(heap.releases).toBe(2)
  })
})

describe('HeapRelease of a thread that looks at itself each second', () => {
  function look(release: HeapRelease, isQuiet: boolean): void {
    release.look({ isQuiet, hadLoad: false })
    vi.advanceTimersByTime(1000)
  }

  it('releases once the thread has been quiet, and not between requests', () => {
    const { heap, release } = started(100 * MIB)
    for (let i = 0; i < 5; i++) {
      release.look({ isQuiet: true, hadLoad: false })
      vi.advanceTimersByTime(900)
      release.look({ isQuiet: false, hadLoad: false })
      vi.advanceTimersByTime(1000)
    }
    expect(heap.releases).toBe(0)
    look(release, true)
    look(release, true)
    expect(heap.releases).toBe(1)
  })

  it('keeps optimized code in pauses of less than ten seconds, once the thread had load', () => {
    const { heap, release } = started(100 * MIB)
    for (let i = 0; i < 5; i++) {
      release.look({ isQuiet: true, hadLoad: true })
      vi.advanceTimersByTime(9999)
      release.look({ isQuiet: false, hadLoad: true })
      vi.advanceTimersByTime(1)
    }
    expect(heap.releases).toBe(0)
    release.look({ isQuiet: true, hadLoad: true })
    vi.advanceTimersByTime(10_000)
    expect(heap.releases).toBe(1)
  })

  it('releases again only after more work', () => {
    const { heap, release } = started(100 * MIB)
    for (let i = 0; i < 5; i++) look(release, true)
    heap.size = 100 * MIB
    for (let i = 0; i < 5; i++) look(release, true)
    expect(heap.releases).toBe(1)
    look(release, false)
    look(release, true)
    expect(heap.releases).toBe(2)
  })
})

/** In a function of its own: nothing on the stack holds the garbage afterwards. */
function bytesWithGarbage(heap: ReleasableHeap): number {
  const garbage = Array.from({ length: 1_000_000 }, (_, i) => ({ i }))
  return garbage.length === 1_000_000 ? heap.bytes() : 0
}

describe('ownHeap', () => {
  it('gives garbage back to the system', () => {
    const heap = ownHeap()
    const before = bytesWithGarbage(heap)
    heap.release()
    expect(heap.bytes()).toBeLessThan(before - 8 * MIB)
  })
})

describe('QuietTime', () => {
  const idle: WorkerLoad = { utilization: 0.001, activeRequests: 0, requests: 5 }

  it.each<[string, Partial<WorkerLoad>, boolean]>([
    ['nothing', {}, true],
    ['one short request', { requests: 6 }, false],
    ['a request that runs', { activeRequests: 1 }, false],
    ['other work', { utilization: 0.02 }, false],
  ])('is one with %s since the last look: %j %s', (_name, load, isQuiet) => {
    const quiet = new QuietTime()
    quiet.look(idle)
    expect(quiet.look({ ...idle, ...load })).toBe(isQuiet)
  })
})
