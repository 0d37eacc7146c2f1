import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { withProgress } from './progress.ts'

const terminal = { isTTY: true }
let written: string[]

beforeEach(() => {
  written = []
  vi.useFakeTimers()
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('withProgress', () => {
  it('reports what takes more than a second, once', async () => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const result = withProgress('reading the configuration of web-1.shop', promise, terminal)
    vi.advanceTimersByTime(999)
    expect(written).toEqual([])
    vi.advanceTimersByTime(60_000)
    expect(written).toEqual(['reading the configuration of web-1.shop …\n'])
    resolve(1)
    expect(await result).toBe(1)
  })

  it('is silent for what is fast, for failures, and without a terminal', async () => {
    expect(await withProgress('a', Promise.resolve(1), terminal)).toBe(1)
    await expect(withProgress('a', Promise.reject(new Error('gone')), terminal)).rejects.toThrow('gone')
    const pending = withProgress('a', new Promise(() => undefined), { isTTY: false })
    vi.advanceTimersByTime(60_000)
    expect(written).toEqual([])
    expect(pending).toBeInstanceOf(Promise)
  })
})
