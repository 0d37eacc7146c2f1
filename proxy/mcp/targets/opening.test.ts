// How long, and how often, the gateway awaits an answer to `initialize` that no client waits for.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { StreamBody } from '../../message/body.ts'
import { LATE_MAX, LATE_MS, Opening } from './opening.ts'

const DEADLINE_MS = 1000

class Call {
  readonly client = new AbortController()
  readonly opening: Opening
  readonly answer = Promise.withResolvers<{ readonly response: { readonly body: StreamBody } }>()
  readonly head: Promise<unknown>
  unused = 0

  constructor() {
    const deadlineMs = performance.now() + DEADLINE_MS
    this.opening = new Opening({ name: 's', client: this.client.signal, deadlineMs })
    this.head = this.opening
      .head(this.answer.promise, () => this.unused++)
      .then(
        () => 'answered',
        (error: Error) => error.message,
      )
  }

  get isOver(): boolean {
    return this.opening.signal.aborted
  }

  /** As the call does that ends. */
  async end(): Promise<void> {
    this.answer.reject(new Error('over'))
    await this.head
    await Promise.resolve()
  }
}

/** A body that has not begun. */
const BODY: StreamBody = {
  length: 1,
  collect: () => new Promise(() => {}),
  tryCollect: () => new Promise(() => {}),
  cancel: () => {},
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

it.each([
  ['the client has left', (call: Call) => call.client.abort()],
  ['upstream call timeout', () => vi.advanceTimersByTime(DEADLINE_MS)],
])('a call is awaited for a bounded time: %s', async (reason, giveUp) => {
  const call = new Call()
  giveUp(call)
  expect(await call.head).toBe(`s: ${reason}`)
  vi.advanceTimersByTime(LATE_MS - 1)
  expect(call.isOver).toBe(false)
  vi.advanceTimersByTime(1)
  expect(call.isOver).toBe(true)
  await call.end()
  expect([call.unused, vi.getTimerCount()]).toEqual([0, 0])
})

it('a late answer is not used', async () => {
  const call = new Call()
  call.client.abort()
  call.answer.resolve({ response: { body: BODY } })
  expect(await call.head).toBe('s: the client has left')
  await call.answer.promise
  expect([call.unused, call.isOver, vi.getTimerCount()]).toEqual([1, false, 0])
})

it('an answer in time is used', async () => {
  const call = new Call()
  call.answer.resolve({ response: { body: BODY } })
  expect(await call.head).toBe('answered')
  expect([call.unused, call.isOver, vi.getTimerCount()]).toEqual([0, false, 0])
})

it('only so many calls are awaited', async () => {
  const calls = Array.from({ length: LATE_MAX + 1 }, () => new Call())
  for (const { client } of calls) client.abort()
  expect(calls.filter(({ isOver }) => isOver)).toEqual([calls.at(-1)])
  for (const call of calls) await call.end()
  const next = new Call()
  next.client.abort()
  expect(next.isOver).toBe(false)
  await next.end()
})

it('nothing is sent for a client that has left before', () => {
  const { signal } = new Opening({ name: 's', client: AbortSignal.abort(), deadlineMs: performance.now() })
  expect(signal.aborted).toBe(true)
})
