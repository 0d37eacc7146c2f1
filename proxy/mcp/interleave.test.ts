import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Cancellable } from '../message/body.ts'
import { interleave } from './interleave.ts'

class Source implements Cancellable<number> {
  isCancelled = false
  readonly #items: () => AsyncIterator<number>

  constructor(items: () => AsyncIterator<number>) {
    this.#items = items
  }

  [Symbol.asyncIterator](): AsyncIterator<number> {
    return this.#items()
  }

  cancel(): void {
    this.isCancelled = true
  }
}

const silent = (): Source => new Source(() => ({ next: () => new Promise(() => {}) }))
const items = (...numbers: number[]): Source =>
  new Source(async function* () {
    yield* numbers
  })
const failing = (): Source =>
  new Source(async function* () {
    yield 1
    throw new Error('broken')
  })

async function all(stream: AsyncIterable<number>): Promise<number[]> {
  const read: number[] = []
  for await (const item of stream) read.push(item)
  return read
}

it('has the items of all streams, and ends with the last one', async () => {
  expect(new Set(await all(interleave([items(1, 2), items(), items(3)])))).toEqual(new Set([1, 2, 3]))
  expect(await all(interleave([]))).toEqual([])
})

it('keeps the order of each stream, and shows those of others between them', async () => {
  expect(await all(interleave([items(1, 2, 3), items(11, 12, 13)]))).toEqual([1, 11, 2, 12, 3, 13])
})

it('fails with a stream, and cancels the others', async () => {
  const other = silent()
  await expect(all(interleave([failing(), other]))).rejects.toThrow('broken')
  expect(other.isCancelled).toBe(true)
})

it('cancels all streams while it waits for them', () => {
  const sources = [silent(), silent()]
  const stream = interleave(sources)
  void stream[Symbol.asyncIterator]().next()
  stream.cancel()
  expect(sources.map(({ isCancelled }) => isCancelled)).toEqual([true, true])
})

it('keeps nothing for the items of one stream while another one is silent', async () => {
  setFlagsFromString('--expose-gc')
  // Defined by the flag.
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const endless = new Source(async function* () {
    for (let i = 0; ; i++) yield i
  })
  let before = 0
  let last = 0
  let grown = Number.POSITIVE_INFINITY
  for await (const item of interleave([silent(), endless])) {
    last = item
    if (item === 1000) before = heap()
    if (item < 101_000) continue
    grown = heap() - before
    break
  }
  // With the stream still open, a reaction on a promise of the silent one for each item took 37 MiB.
  expect(last).toBe(101_000)
  expect(grown).toBeLessThan(5 * 2 ** 20)
})
