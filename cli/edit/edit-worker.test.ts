// Calls of the thread that works on files: order, bounds, and failures, and its end without calls.
import { afterEach, expect, it } from 'vitest'
import { until } from '#test/wait.ts'
import { EditWorker, type EditWorkerOptions } from './edit-worker.ts'

const ENTRY = new URL('./edit-thread.testing.ts', import.meta.url)
let worker: EditWorker

function start(options: Partial<EditWorkerOptions> = {}): void {
  worker = new EditWorker({ path: '/gw.yaml', stateOf: () => ({ storedKeys: [] }), entry: ENTRY, ...options })
}

/** The thread of the test does what the text says. */
const ask = (text: string, signal?: AbortSignal): Promise<unknown> =>
  worker.ask({ kind: 'check', edit: { path: '', etag: '', text } }, signal)

afterEach(() => worker.close())

it('makes one call after the other, in one thread', async () => {
  start()
  expect(await Promise.all([ask('count'), ask('count'), ask('path')])).toEqual([1, 2, '/gw.yaml'])
})

it('reports a failure of a call; the thread lives on', async () => {
  start()
  expect(await ask('count')).toBe(1)
  await expect(ask('fail')).rejects.toThrow('it failed')
  expect(await ask('count')).toBe(2)
})

it('starts another thread after one that has ended with an error', async () => {
  start()
  expect(await ask('count')).toBe(1)
  await expect(ask('throws')).rejects.toThrow('the thread that works on the files has ended: it threw')
  expect(await ask('count')).toBe(1)
})

it('ends a thread that does not answer', async () => {
  start({ answerMs: 300 })
  const reason = 'the thread that works on the files has ended: no answer within 0.3 seconds'
  await expect(ask('hangs')).rejects.toThrow(reason)
})

it('rejects calls beyond 16 that wait', async () => {
  start()
  const calls = Array.from({ length: 17 }, () => ask('count'))
  await expect(calls.pop()).rejects.toThrow('16 requests about the files wait: try again in some seconds')
  expect(await Promise.all(calls)).toHaveLength(16)
  expect(await ask('count')).toBe(17)
})

it('does not make a call whose page has left', async () => {
  start()
  const ended = new AbortController()
  const [first, second] = [ask('count'), ask('count', ended.signal)]
  ended.abort()
  await expect(second).rejects.toThrow('aborted')
  expect([await first, await ask('count')]).toEqual([1, 2])
})

it('ends the thread when no call has come for a while', async () => {
  start({ idleMs: 1 })
  expect(await ask('count')).toBe(1)
  // Another thread counts from 1 again.
  let count: unknown = 0
  await until('another thread answers', async () => (count = await ask('count')) === 1, 10_000)
  expect(count).toBe(1)
})
