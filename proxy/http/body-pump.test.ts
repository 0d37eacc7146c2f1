// What both connections rely on: order, backpressure, the announced length, and silence after the stop.
import { expect, it } from 'vitest'
import { BodyPump, type PumpTarget } from './body-pump.ts'
import { until } from './server.testing.ts'
import { madeStream } from '../message/made-stream.ts'

class Target implements PumpTarget {
  readonly got: string[] = []
  isFull = false

  pumpChunk(chunk: Buffer): boolean {
    this.got.push(chunk.toString())
    return !this.isFull
  }

  bodyEnd(): void {
    this.got.push('<end>')
  }

  bodyError(): void {
    this.got.push('<error>')
  }
}

async function* texts(...parts: readonly (string | Error)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (part instanceof Error) throw part
    yield Buffer.from(part)
  }
}

it.each([
  ['a source without a length', ['ab', 'c'], undefined, ['ab', 'c', '<end>']],
  ['empty chunks are passed over', ['', 'a', ''], undefined, ['a', '<end>']],
  ['exactly what was announced', ['ab', 'c'], 3, ['ab', 'c', '<end>']],
  ['less than announced', ['ab'], 3, ['ab', '<error>']],
  ['more than announced', ['ab', 'cd'], 3, ['ab', '<error>']],
  ['a source that breaks', ['ab', new Error('broken')], undefined, ['ab', '<error>']],
])('%s', async (_name, parts, length, expected) => {
  const target = new Target()
  new BodyPump(
    target,
    madeStream(texts(...parts), () => {}),
  ).start(length)
  await until(() => target.got.at(-1)?.startsWith('<') === true)
  expect(target.got).toEqual(expected)
})

it('waits while the target is full', async () => {
  const target = new Target()
  target.isFull = true
  const pump = new BodyPump(
    target,
    madeStream(texts('a', 'b'), () => {}),
  )
  pump.start(undefined)
  await until(() => target.got.length === 1)
  await new Promise(setImmediate)
  expect(target.got).toEqual(['a'])
  target.isFull = false
  pump.resume()
  await until(() => target.got.length === 3)
  expect(target.got).toEqual(['a', 'b', '<end>'])
})

it('cancels the source of a body that is stopped, and reports nothing to the target', async () => {
  const target = new Target()
  target.isFull = true
  let isStopped = false
  let isCancelled = false
  async function* source(): AsyncGenerator<Buffer> {
    try {
      yield Buffer.from('a')
      yield Buffer.from('b')
    } finally {
      isStopped = true
    }
  }
  const pump = new BodyPump(
    target,
    madeStream(source(), () => {
      isCancelled = true
    }),
  )
  pump.start(undefined)
  await until(() => target.got.length === 1)
  pump.stop()
  expect(isCancelled).toBe(true)
  await until(() => isStopped)
  await new Promise(setImmediate)
  expect(target.got).toEqual(['a'])
})
