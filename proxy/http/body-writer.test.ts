// Writes of bodies that are drawn from an iterator.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Cancellable } from '../message/body.ts'
import type { Transport } from '../socket/transport.ts'
import { BodyWriter } from './body-writer.ts'

function written(source: (transport: { needsDrain: boolean }) => AsyncGenerator<Buffer>) {
  const writes: string[] = []
  const ends: boolean[] = []
  const transport = {
    needsDrain: false,
    writeText: (text: string) => writes.push(text) > 0,
    write: (bytes: Buffer) => writes.push(String(bytes)) > 0,
  }
  const body: Cancellable<Buffer> = { [Symbol.asyncIterator]: () => source(transport), cancel() {} }
  const writer = new BodyWriter(transport as unknown as Transport, {
    bodyWritten: (isComplete) => void ends.push(isComplete),
  })
  expect(writer.prepare(body)).toBe('Chunked')
  writer.send('head\r\n\r\n', true)
  return { writes, ends, transport, writer }
}

describe('a body that is drawn from an iterator', () => {
  it('leaves with its head and its end in one write if it is there at once', async () => {
    const { writes, ends, writer } = written(async function* () {
      yield Buffer.from('one')
      yield Buffer.from('three')
    })
    await turn()
    expect(writes).toEqual(['head\r\n\r\n3\r\none\r\n5\r\nthree\r\n0\r\n\r\n'])
    expect(ends).toEqual([true])
    expect(writer.count).toBe(8)
  })

  it('does not keep the head and earlier chunks waiting', async () => {
    const wait = Promise.withResolvers<void>()
    const { writes } = written(async function* () {
      yield Buffer.from('one')
      await wait.promise
      yield Buffer.from('two')
    })
    await turn()
    expect(writes).toEqual(['head\r\n\r\n3\r\none\r\n'])
    wait.resolve()
    await turn()
    expect(writes.slice(1)).toEqual(['3\r\ntwo\r\n0\r\n\r\n'])
  })

  it('is not gathered above 12 KiB', async () => {
    const { writes } = written(async function* () {
      yield Buffer.alloc(12_000, 'a')
      yield Buffer.alloc(12_000, 'b')
    })
    await turn()
    expect(writes.map((text) => text.length)).toEqual([8 + 12_000 + 8 + 12_000 + 8, 5])
  })

  it('that fails has its earlier chunks written, and no end', async () => {
    const { writes, ends } = written(async function* () {
      yield Buffer.from('one')
      throw new Error('broken')
    })
    await turn()
    expect(writes).toEqual(['head\r\n\r\n3\r\none\r\n'])
    expect(ends).toEqual([false])
  })

  it('is not drawn further while the connection is full', async () => {
    let drawn = 0
    const { transport, writer } = written(async function* (to) {
      for (; drawn < 5; drawn++) {
        to.needsDrain = drawn === 1
        yield Buffer.from('x')
      }
    })
    await turn()
    expect(drawn).toBe(1)
    transport.needsDrain = false
    writer.drained()
    await turn()
    expect(drawn).toBe(5)
  })
})

describe('a body that is there at once', () => {
  const HEAD = 'head: \u00e9\r\n\r\n'

  function sent(body: string | Buffer): Buffer[] {
    const writes: Buffer[] = []
    const transport = {
      writeText: (latin1: string) => writes.push(Buffer.from(latin1, 'latin1')) > 0,
      write: (bytes: Buffer) => writes.push(Buffer.from(bytes)) > 0,
    }
    const ends: boolean[] = []
    const writer = new BodyWriter(transport as unknown as Transport, {
      bodyWritten: (isComplete) => void ends.push(isComplete),
    })
    const length = Buffer.byteLength(body)
    expect(writer.prepare(body)).toBe(length)
    writer.send(HEAD, false)
    expect([ends, writer.count, writer.isActive]).toEqual([[true], length, false])
    return writes
  }

  it.each<[string, string | Buffer, number]>([
    ['a short text', 'x'.repeat(100), 1],
    ['a short text that is not ASCII', 'ä'.repeat(100), 1],
    ['short bytes', Buffer.alloc(12_288, 0xe4), 1],
    ['a text over 12 KiB', 'x'.repeat(12_289), 1],
    ['a text over 12 KiB that is not ASCII', 'ä'.repeat(12_289), 1],
    ['bytes over 12 KiB', Buffer.alloc(60_000, 0xe4), 1],
    ['bytes over a slice', Buffer.alloc(70_000, 0xe4), 3],
  ])('leaves with its head: %s', (_, body, count) => {
    const writes = sent(body)
    expect(writes.length).toBe(count)
    const expected = Buffer.concat([Buffer.from(HEAD, 'latin1'), typeof body === 'string' ? Buffer.from(body) : body])
    expect(Buffer.concat(writes).equals(expected)).toBe(true)
  })
})
