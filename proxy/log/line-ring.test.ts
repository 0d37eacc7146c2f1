import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LINE_BYTES_MAX, createLineRing, lineRingReader, lineRingWriter } from './line-ring.ts'

describe('line ring', () => {
  it('gives back every line in order, whatever the wrap-arounds', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => `${text.toWellFormed()}\n`)
    fc.assert(
      fc.property(fc.array(fc.array(line, { maxLength: 4 }), { maxLength: 60 }), (batches) => {
        const ring = createLineRing(4096)
        const write = lineRingWriter(ring, () => undefined)
        const reader = lineRingReader(ring)
        for (const batch of batches) {
          // What fits without blocking: the reader runs on the same thread here.
          const text = batch.join('').slice(0, 1000)
          if (text === '') continue
          write(text)
          expect(reader.take()?.toString()).toBe(Buffer.from(text).toString())
        }
      }),
    )
  })

  it('gives whole lines only, where the space does not hold all', () => {
    const ring = createLineRing(4096)
    const write = lineRingWriter(ring, () => undefined)
    const reader = lineRingReader(ring)
    const space = Buffer.alloc(100)
    const taken: string[] = []
    for (let i = 0; i < 300; i++) {
      for (let k = 0; k < 3; k++) write(`${i}.${k} ${'x'.repeat((i * 7 + k * 13) % 60)}\n`)
      for (let n = reader.takeInto(space); n > 0; n = reader.takeInto(space)) taken.push(space.toString('utf8', 0, n))
    }
    expect(taken.filter((text) => !text.endsWith('\n'))).toEqual([])
    const numbers = taken.join('').split('\n').slice(0, -1)
    expect(numbers.map((line) => line.split(' ')[0])).toEqual(
      Array.from({ length: 900 }, (_, i) => `${Math.trunc(i / 3)}.${i % 3}`),
    )
  })

  it('wakes a sleeping reader once and not again before it sleeps', () => {
    let wakes = 0
    const ring = createLineRing(4096)
    const write = lineRingWriter(ring, () => wakes++)
    const reader = lineRingReader(ring)
    write('a\n')
    write('b\n')
    expect(wakes).toBe(1)
    expect(reader.sleep()).toBe(false)
    expect(reader.take()?.toString()).toBe('a\nb\n')
    expect(reader.sleep()).toBe(true)
    write('c\n')
    expect(wakes).toBe(2)
  })

  it('cuts a line that is too long and keeps its newline', () => {
    const ring = createLineRing(1024 * 1024)
    lineRingWriter(ring, () => undefined)(`${'x'.repeat(LINE_BYTES_MAX * 2)}\n`)
    const taken = lineRingReader(ring).take()
    expect(taken?.length).toBe(LINE_BYTES_MAX)
    expect(taken?.at(-1)).toBe(0x0a)
  })

  it('blocks a writer that is too fast and loses nothing', async () => {
    const ring = createLineRing(4096)
    const lines = 2000
    const source = `
      import { workerData, parentPort } from 'node:worker_threads'
      const { lineRingWriter } = await import(workerData.module)
      const write = lineRingWriter(workerData.ring, () => parentPort.postMessage('wake'))
      for (let i = 0; i < ${lines}; i++) write('line ' + i + ' ' + 'é'.repeat(i % 50) + '\\n')
    `
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
      workerData: { ring, module: new URL('./line-ring.ts', import.meta.url).href },
    })
    const reader = lineRingReader(ring)
    let text = ''
    const drain = (): void => {
      for (let chunk = reader.take(); chunk !== undefined; chunk = reader.take()) text += chunk.toString('latin1')
    }
    const timer = setInterval(drain, 1)
    await new Promise((resolve, reject) => {
      worker.once('exit', resolve)
      worker.once('error', reject)
    })
    clearInterval(timer)
    drain()
    const numbers = text
      .split('\n')
      .slice(0, -1)
      .map((line) => Number(line.split(' ')[1]))
    expect(numbers).toEqual(Array.from({ length: lines }, (_, i) => i))
  })
})
