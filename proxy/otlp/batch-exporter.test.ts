import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BATCH_DELAY_MS, BATCH_MAX, BatchExporter, QUEUE_MAX, type SendOutcome } from './batch-exporter.ts'

const ACCEPTED: SendOutcome = { kind: 'Accepted', rejected: 0 }
const LATER: SendOutcome = { kind: 'Later', afterMs: undefined, detail: 'away' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function exporterOf(answers: (SendOutcome | Promise<SendOutcome>)[] = [], delayMs = BATCH_DELAY_MS) {
  const batches: number[] = []
  const counts: Record<string, number> = {}
  const exporter = new BatchExporter<number>(
    {
      async send(batch) {
        batches.push(batch.length)
        return (await answers.shift()) ?? ACCEPTED
      },
      counted(result, count) {
        counts[result] = (counts[result] ?? 0) + count
      },
    },
    delayMs,
  )
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) exporter.add(i)
  }
  return { exporter, batches, counts, add }
}

describe('batches', () => {
  it('leave when they are old enough', async () => {
    const { batches, counts, add } = exporterOf()
    add(3)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS - 1)
    expect(batches).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect([batches, counts]).toEqual([[3], { exported: 3 }])
  })

  it('leave after the time that is given', async () => {
    const { batches, add } = exporterOf([], 200)
    add(1)
    await vi.advanceTimersByTimeAsync(199)
    expect(batches).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([1])
  })

  it('leave when they are full, one at a time', async () => {
    const slow = Promise.withResolvers<SendOutcome>()
    const { batches, counts, add } = exporterOf([slow.promise])
    add(BATCH_MAX)
    await vi.advanceTimersByTimeAsync(0)
    add(BATCH_MAX)
    await vi.advanceTimersByTimeAsync(0)
    expect(batches).toEqual([BATCH_MAX])
    slow.resolve(ACCEPTED)
    await vi.advanceTimersByTimeAsync(0)
    expect([batches, counts]).toEqual([[BATCH_MAX, BATCH_MAX], { exported: 2 * BATCH_MAX }])
  })

  it('drop and count what does not fit', async () => {
    const { exporter, counts, add } = exporterOf([new Promise<never>(() => undefined)])
    add(BATCH_MAX)
    await vi.advanceTimersByTimeAsync(0)
    add(QUEUE_MAX + 5)
    expect(counts).toEqual({ dropped: 5 })
    void exporter.flush()
  })

  it('count what the collector did not take', async () => {
    const { exporter, counts, add } = exporterOf([{ kind: 'Accepted', rejected: 2 }])
    add(5)
    await exporter.flush()
    expect(counts).toEqual({ rejected: 2, exported: 3 })
  })
})

describe('a collector that is away', () => {
  it('is asked again, five times in all', async () => {
    const { batches, counts, add } = exporterOf([LATER, LATER, LATER, LATER, LATER])
    add(4)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS + 60_000)
    expect([batches, counts]).toEqual([[4, 4, 4, 4, 4], { failed: 4 }])
  })

  it('is asked again when it says', async () => {
    const { batches, counts, add } = exporterOf([{ kind: 'Later', afterMs: 7000, detail: 'busy' }])
    add(4)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS + 6999)
    expect(batches).toEqual([4])
    await vi.advanceTimersByTimeAsync(1)
    expect([batches, counts]).toEqual([[4, 4], { exported: 4 }])
  })

  it('is not retried if the collector requests a long delay, or rejects the records', async () => {
    const { exporter, batches, counts, add } = exporterOf([
      { kind: 'Later', afterMs: 3_600_000, detail: 'tomorrow' },
      { kind: 'Refused', detail: 'no' },
    ])
    add(1)
    await exporter.flush()
    add(1)
    await exporter.flush()
    expect([batches, counts]).toEqual([[1, 1], { failed: 2 }])
  })
})

describe('the end', () => {
  it('sends what is left and takes no more', async () => {
    const { exporter, batches, counts, add } = exporterOf()
    add(BATCH_MAX + 1)
    await exporter.close(1000)
    add(1)
    expect(batches.reduce((sum, count) => sum + count)).toBe(BATCH_MAX + 1)
    expect(counts).toEqual({ exported: BATCH_MAX + 1, dropped: 1 })
  })

  it('does not wait for a collector that is away', async () => {
    const { exporter, batches, counts, add } = exporterOf([LATER, LATER, LATER])
    add(4)
    await exporter.close(1000)
    expect([batches, counts]).toEqual([[4, 4], { failed: 4 }])
  })

  it('ends a wait that is under way', async () => {
    const { exporter, batches, counts, add } = exporterOf([LATER])
    add(4)
    await vi.advanceTimersByTimeAsync(BATCH_DELAY_MS)
    expect(batches).toEqual([4])
    await exporter.close(1000)
    expect([batches, counts]).toEqual([[4, 4], { exported: 4 }])
  })

  it('drops what there is no time for', async () => {
    const { exporter, counts, add } = exporterOf()
    add(4)
    await exporter.close(0)
    expect(counts).toEqual({ dropped: 4 })
  })
})
